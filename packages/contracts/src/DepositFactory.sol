// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { Create2 } from "@openzeppelin/contracts/utils/Create2.sol";
import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { DepositWallet } from "./DepositWallet.sol";
import { Governed } from "./Governed.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { IDepositWallet } from "./interfaces/IDepositWallet.sol";
import { Address32 } from "./types/Address32.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { Eip712 } from "./types/Eip712.sol";
import { Listing } from "./types/Listing.sol";
import { WalletProxy } from "./types/WalletProxy.sol";

/// @title The deposit factory
/// @notice Has the same address on every chain, since its creation code and constructor arguments are
/// the same everywhere; differences between chains are set by `seal`.
///
/// What each key can do alone:
/// - relayer: settle early, choose among the listed routes and inside their bounds, burn its own
///   gas;
/// - attestor: nothing; with a relayer: return a deposit to its refund authority;
/// - refund authority: take back the balance of its own addresses, at any time;
/// - guardian: pause and remove; owner: the rules for future deposits, after the delay.
///
/// No function takes a recipient.
contract DepositFactory is IDepositFactory, Governed, ReentrancyGuard {
    using Listing for Listing.History;

    /// @inheritdoc IDepositFactory
    bytes32 public constant ROUTE = keccak256("sluice.role.route");

    /// @inheritdoc IDepositFactory
    bytes32 public constant ATTESTOR = keccak256("sluice.role.attestor");

    bytes32 private constant NAME_HASH = keccak256("Sluice DepositFactory");
    bytes32 private constant REFUND_TYPEHASH =
        keccak256("Refund(address wallet,address token,uint256 deadline)");
    uint256 private constant REFUND_LIFETIME = 10 minutes;

    /// @dev Attestors whose signatures an attestation needs.
    uint256 private constant ATTESTOR_THRESHOLD = 1;

    /// @dev Bytes of a failed job's revert data in its event.
    uint256 private constant REASON_MAX = 256;

    /// @dev Gas around a job: the call, the event of a failure, the end of the batch.
    uint256 private constant JOB_OVERHEAD = 15_000;

    address private immutable IMPLEMENTATION;
    bytes32 private immutable INIT_CODE_HASH;

    mapping(address account => Listing.History) private _relayers;

    modifier onlyRelayer() {
        if (!_relayers[msg.sender].isListed()) revert NotRelayer(msg.sender);
        _;
    }

    modifier whenSealed() {
        if (!isSealed()) revert NotSealed();
        _;
    }

    constructor(address owner_, address guardian_, uint256 delay_)
        Governed(owner_, guardian_, delay_)
    {
        IMPLEMENTATION = address(new DepositWallet());
        INIT_CODE_HASH = keccak256(WalletProxy.initCode(IMPLEMENTATION));
    }

    /// @inheritdoc IDepositFactory
    function seal(
        address[] calldata routes,
        address[] calldata relayers,
        address[] calldata attestors
    ) external {
        _sealOnce();
        for (uint256 i; i < routes.length; ++i) {
            _grant(ROUTE, routes[i]);
        }
        for (uint256 i; i < relayers.length; ++i) {
            _setRelayer(relayers[i], true);
        }
        for (uint256 i; i < attestors.length; ++i) {
            _grant(ATTESTOR, attestors[i]);
        }
    }

    /// @inheritdoc IDepositFactory
    function setRelayer(address relayer, bool on) external {
        if (msg.sender != owner() && (on || msg.sender != guardian())) revert NotOwner(msg.sender);
        _setRelayer(relayer, on);
    }

    /// @inheritdoc IDepositFactory
    function deploy(Commitment calldata c) external whenSealed returns (address) {
        return _deploy(c);
    }

    /// @inheritdoc IDepositFactory
    function deployMany(Commitment[] calldata commitments)
        external
        whenSealed
        returns (address[] memory wallets)
    {
        wallets = new address[](commitments.length);
        for (uint256 i; i < commitments.length; ++i) {
            wallets[i] = _deploy(commitments[i]);
        }
    }

    /// @inheritdoc IDepositFactory
    function settle(Job calldata job)
        external
        whenSealed
        whenNotPaused
        onlyRelayer
        nonReentrant
        returns (uint256)
    {
        return _settle(job);
    }

    /// @inheritdoc IDepositFactory
    function settleMany(Job[] calldata jobs, uint256 gasPerJob)
        external
        whenSealed
        whenNotPaused
        onlyRelayer
        nonReentrant
        returns (uint256 done)
    {
        // A call receives at most 63/64 of the remaining gas; that must suffice for every job.
        uint256 needed = gasPerJob + gasPerJob / 63 + JOB_OVERHEAD;
        for (uint256 i; i < jobs.length; ++i) {
            bytes memory payload = abi.encodeCall(this.settleJob, (jobs[i]));
            if (gasleft() < needed) revert NeedGas(gasleft(), needed);
            (bool ok, bytes memory reason) =
                BoundedCall.tryCall(address(this), gasPerJob, payload, REASON_MAX);
            if (ok) ++done;
            else emit JobFailed(i, predict(jobs[i].c), reason);
        }
    }

    /// @inheritdoc IDepositFactory
    function settleJob(Job calldata job) external returns (uint256) {
        if (msg.sender != address(this)) revert NotSelf(msg.sender);
        return _settle(job);
    }

    /// @inheritdoc IDepositFactory
    function refund(Commitment calldata c, address token) external nonReentrant returns (uint256) {
        address authority = Address32.toNonZeroAddress(c.refundAuthority);
        if (msg.sender != authority) revert NotRefundAuthority(msg.sender, c.refundAuthority);
        return _refund(_deploy(c), token, authority);
    }

    /// @inheritdoc IDepositFactory
    function refundBySignature(
        Commitment calldata c,
        address token,
        uint256 deadline,
        bytes calldata signature
    ) external onlyRelayer nonReentrant returns (uint256) {
        if (deadline < block.timestamp) {
            revert Expired(deadline, block.timestamp);
        }
        uint256 latest = block.timestamp + REFUND_LIFETIME;
        if (deadline > latest) revert DeadlineTooFar(deadline, latest);
        address wallet = _deploy(c);
        bytes32 structHash = keccak256(abi.encode(REFUND_TYPEHASH, wallet, token, deadline));
        address signer = Eip712.signerOf(NAME_HASH, structHash, signature);
        if (!isAttestor(signer)) revert NotAttestor(signer);
        return _refund(wallet, token, Address32.toNonZeroAddress(c.refundAuthority));
    }

    /// @inheritdoc IDepositFactory
    function isRoute(address who) external view returns (bool) {
        return _isMember(ROUTE, who);
    }

    /// @inheritdoc IDepositFactory
    function isRelayer(address who) external view returns (bool) {
        return _relayers[who].isListed();
    }

    /// @inheritdoc IDepositFactory
    function wasRelayer(address who, uint256 time) external view returns (bool) {
        return _relayers[who].wasListed(time);
    }

    /// @inheritdoc IDepositFactory
    function wasAttestor(address who, uint256 time) external view returns (bool) {
        return _wasMember(ATTESTOR, who, time);
    }

    /// @inheritdoc IDepositFactory
    function hasEnoughAttestors() external view returns (bool) {
        return _countMembers(ATTESTOR) >= ATTESTOR_THRESHOLD;
    }

    /// @inheritdoc IDepositFactory
    function implementation() external view returns (address) {
        return IMPLEMENTATION;
    }

    /// @inheritdoc IDepositFactory
    function initCode() external view returns (bytes memory) {
        return WalletProxy.initCode(IMPLEMENTATION);
    }

    /// @inheritdoc IDepositFactory
    function initCodeHash() external view returns (bytes32) {
        return INIT_CODE_HASH;
    }

    /// @inheritdoc IDepositFactory
    function domainSeparator() external view returns (bytes32) {
        return Eip712.domainSeparator(NAME_HASH, address(this));
    }

    /// @inheritdoc IDepositFactory
    function hashOf(Commitment calldata c) external pure returns (bytes32) {
        return CommitmentLib.hash(c);
    }

    /// @inheritdoc IDepositFactory
    function isAttestor(address who) public view returns (bool) {
        return _isMember(ATTESTOR, who);
    }

    /// @inheritdoc IDepositFactory
    function predict(Commitment calldata c) public view returns (address) {
        return Create2.computeAddress(CommitmentLib.hash(c), INIT_CODE_HASH);
    }

    function _checkMember(bytes32 role, address account) internal view override {
        if (role == ROUTE && account.code.length == 0) revert NoCode(account);
    }

    function _isListRole(bytes32 role) internal pure override returns (bool) {
        return role == ROUTE || role == ATTESTOR;
    }

    function _setRelayer(address relayer, bool on) private {
        if (relayer == address(0)) revert ZeroAddress();
        if (on) _relayers[relayer].list();
        else _relayers[relayer].unlist();
        emit RelayerSet(relayer, on);
    }

    function _deploy(Commitment calldata c) private returns (address wallet) {
        bytes32 salt = CommitmentLib.hash(c);
        wallet = Create2.computeAddress(salt, INIT_CODE_HASH);
        if (wallet.code.length == 0) {
            Create2.deploy(0, salt, WalletProxy.initCode(IMPLEMENTATION));
            emit WalletDeployed(wallet, salt);
        }
    }

    function _settle(Job calldata job) private returns (uint256 amount) {
        if (!_isMember(ROUTE, job.route)) revert NotRoute(job.route);
        address wallet = _deploy(job.c);
        amount = IDepositWallet(wallet).run(job.route, job.c, job.token, job.data);
        if (amount == 0) revert Nothing(wallet, job.token);
        uint256 remaining =
            job.token == address(0) ? wallet.balance : IERC20(job.token).balanceOf(wallet);
        if (remaining != 0) revert Leftover(wallet, job.token, remaining);
        emit Settled(wallet, job.token, job.route, amount);
    }

    /// @dev Accepts a remaining balance: a token that always leaves some behind must stay refundable.
    function _refund(address wallet, address token, address to) private returns (uint256 amount) {
        amount = IDepositWallet(wallet).refund(token, to);
        if (amount == 0) revert Nothing(wallet, token);
        emit Refunded(wallet, token, to, amount);
    }
}
