// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { Create2 } from "@openzeppelin/contracts/utils/Create2.sol";
import { ReentrancyGuard } from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import { ShortString, ShortStrings } from "@openzeppelin/contracts/utils/ShortStrings.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { DepositWallet } from "./DepositWallet.sol";
import { Eip712 } from "./Eip712.sol";
import { Governed } from "./Governed.sol";
import { IChargedRoute } from "./interfaces/IChargedRoute.sol";
import { IDepositFactory } from "./interfaces/IDepositFactory.sol";
import { IDepositWallet } from "./interfaces/IDepositWallet.sol";
import { IRoute } from "./interfaces/IRoute.sol";
import { IUnattendedRoute } from "./interfaces/IUnattendedRoute.sol";
import { Address32 } from "./types/Address32.sol";
import { BoundedCall } from "./types/BoundedCall.sol";
import { Commitment, CommitmentLib } from "./types/Commitment.sol";
import { Listing } from "./types/Listing.sol";
import { Plan } from "./types/Plan.sol";
import { RouteCode } from "./types/RouteCode.sol";
import { RouteSetLib } from "./types/RouteSet.sol";
import { Signatures } from "./types/Signatures.sol";
import { Threshold } from "./types/Threshold.sol";
import { WalletProxy } from "./types/WalletProxy.sol";

/// @title The deposit factory
/// @notice Has the same address on every chain, since its creation code and constructor arguments are
/// the same everywhere; differences between chains are set by `seal`.
///
/// What each key can do alone:
/// - relayer: settle early, choose among the listed routes and inside their bounds, burn its own
///   gas;
/// - anybody: settle an announced deposit without a fee, if the commitment allows it;
/// - attestors: nothing; as many as the threshold, with a relayer: refund a deposit to its refund
///   authority;
/// - refund authority: take back the balance of its own addresses, at any time;
/// - guardian: pause and remove; owner: the rules for future deposits, after the delay.
///
/// No function takes a recipient.
contract DepositFactory is IDepositFactory, Governed, Eip712, ReentrancyGuard {
    using Listing for Listing.History;
    using Signatures for bytes;
    using Threshold for Threshold.History;

    /// @inheritdoc IDepositFactory
    bytes32 public constant ROUTE = keccak256("sluice.role.route");

    /// @inheritdoc IDepositFactory
    bytes32 public constant ATTESTOR = keccak256("sluice.role.attestor");

    /// @inheritdoc IDepositFactory
    bytes32 public constant THRESHOLD = keccak256("sluice.role.threshold");

    /// @inheritdoc IDepositFactory
    bytes32 public constant TREASURY = keccak256("sluice.role.treasury");

    /// @inheritdoc IDepositFactory
    uint256 public constant THRESHOLD_MAX = 7;

    bytes32 private constant REFUND_TYPEHASH = keccak256(
        "Refund(address wallet,address token,uint256 maxAmount,uint8 reason,uint256 deadline)"
    );
    uint256 private constant REFUND_LIFETIME = 10 minutes;

    /// @dev Reasons are 1 (below minimum), 2 (unlisted), 3 (dead) and 4 (expired); zero is the
    /// authority's own refund, which needs none.
    uint8 private constant REFUND_REASON_MAX = 4;

    /// @dev From an announcement to its settlement: time for the operator to settle or pause.
    uint256 private constant UNATTENDED_DELAY = 72 hours;

    /// @dev Ends an announcement, so that it does not wait for a later deposit.
    uint256 private constant UNATTENDED_WINDOW = 14 days;

    /// @dev Bytes of a failed job's revert data in its event.
    uint256 private constant REASON_MAX = 256;

    /// @dev Gas around a job: the call, the event of a failure, the end of the batch.
    uint256 private constant JOB_OVERHEAD = 15_000;

    address private immutable IMPLEMENTATION;
    bytes32 private immutable INIT_CODE_HASH;

    mapping(address account => Listing.History) private _relayers;
    Threshold.History private _thresholds;
    address private _treasury;
    ShortString private _securityContact;
    mapping(address wallet => mapping(address token => uint256 time)) private _announcements;
    mapping(address wallet => mapping(address token => uint256 deadline)) private _lastRefunds;

    /// @dev Hash of a route's code when it was scheduled or sealed.
    mapping(address route => bytes32) private _codeHashes;

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
        address[] calldata attestors,
        uint256 threshold_,
        address treasury_
    ) external {
        _sealOnce();
        _setThreshold(threshold_);
        if (treasury_ == address(0)) revert ZeroAddress();
        _treasury = treasury_;
        emit RoleGranted(TREASURY, treasury_);
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
    function setSecurityContact(string calldata contact) external onlyOwner {
        _securityContact = ShortStrings.toShortString(contact);
        emit SecurityContactSet(contact);
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
    function announceSettlement(Commitment calldata c, address token) external whenSealed {
        if (c.flags != CommitmentLib.UNATTENDED) revert NotUnattended(c.flags);
        address wallet = predict(c);
        if (_balanceOf(token, wallet) == 0) revert Nothing(wallet, token);
        uint256 until = _expiryOf(wallet, token);
        if (block.timestamp <= until) revert AlreadyAnnounced(wallet, token, until);
        _announcements[wallet][token] = block.timestamp;
        uint256 readyAt = block.timestamp + UNATTENDED_DELAY;
        emit SettlementAnnounced(wallet, token, readyAt, readyAt + UNATTENDED_WINDOW);
    }

    /// @inheritdoc IDepositFactory
    function settleUnattended(
        Commitment calldata c,
        address token,
        address route,
        bytes32[] calldata proof
    ) external whenSealed whenNotPaused nonReentrant returns (uint256 amount) {
        address wallet = predict(c);
        if (block.timestamp > _expiryOf(wallet, token)) revert NotAnnounced(wallet, token);
        uint256 readyAt = _announcements[wallet][token] + UNATTENDED_DELAY;
        if (block.timestamp < readyAt) revert TooEarly(readyAt, block.timestamp);
        _checkRoute(c, route, proof);
        bytes memory data = IUnattendedRoute(route).unattendedData(_balanceOf(token, wallet));
        (, amount) = _run(c, token, 0, route, data);
        emit SettledUnattended(wallet, token, route, amount);
    }

    /// @inheritdoc IDepositFactory
    function refund(Commitment calldata c, address token, uint256 maxAmount)
        external
        nonReentrant
        returns (uint256)
    {
        address authority = Address32.toNonZeroAddress(c.refundAuthority);
        if (msg.sender != authority) revert NotRefundAuthority(msg.sender, c.refundAuthority);
        return _refund(_deploy(c), token, maxAmount, authority, 0);
    }

    /// @inheritdoc IDepositFactory
    function refundBySignature(
        Commitment calldata c,
        address token,
        uint256 maxAmount,
        uint8 reason,
        uint256 deadline,
        bytes calldata signatures
    ) external onlyRelayer nonReentrant returns (uint256) {
        if (reason == 0 || reason > REFUND_REASON_MAX) {
            revert UnknownReason(reason);
        }
        if (deadline < block.timestamp) {
            revert Expired(deadline, block.timestamp);
        }
        uint256 latest = block.timestamp + REFUND_LIFETIME;
        if (deadline > latest) revert DeadlineTooFar(deadline, latest);
        address wallet = _deploy(c);
        // Later deposits are not what the attestors saw.
        if (deadline <= _lastRefunds[wallet][token]) {
            revert AlreadyRefunded(wallet, token, deadline);
        }
        _lastRefunds[wallet][token] = deadline;
        bytes32 structHash =
            keccak256(abi.encode(REFUND_TYPEHASH, wallet, token, maxAmount, reason, deadline));
        checkAttested(_digestOf(structHash), signatures);
        address authority = Address32.toNonZeroAddress(c.refundAuthority);
        return _refund(wallet, token, maxAmount, authority, reason);
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
        return _countMembers(ATTESTOR) >= threshold();
    }

    /// @inheritdoc IDepositFactory
    function checkAttestedAt(bytes32 digest, bytes calldata signatures, uint256 time)
        external
        view
    {
        _checkSigners(digest, signatures, Math.min(threshold(), _thresholds.lowestAt(time)), time);
    }

    /// @inheritdoc IDepositFactory
    function lowestThresholdAt(uint256 time) external view returns (uint256) {
        return _thresholds.lowestAt(time);
    }

    /// @inheritdoc IDepositFactory
    function treasury() external view returns (address) {
        return _treasury;
    }

    /// @inheritdoc IDepositFactory
    function securityContact() external view returns (string memory) {
        return ShortStrings.toString(_securityContact);
    }

    /// @inheritdoc IDepositFactory
    function settlementAnnouncedAt(address wallet, address token) external view returns (uint256) {
        return block.timestamp > _expiryOf(wallet, token) ? 0 : _announcements[wallet][token];
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
    function hashOf(Commitment calldata c) external pure returns (bytes32) {
        return CommitmentLib.hash(c);
    }

    /// @inheritdoc IDepositFactory
    function checkAttested(bytes32 digest, bytes calldata signatures) public view {
        // A time at which the members are those of now.
        _checkSigners(digest, signatures, threshold(), type(uint256).max);
    }

    /// @inheritdoc IDepositFactory
    function threshold() public view returns (uint256) {
        return _thresholds.current();
    }

    /// @inheritdoc IDepositFactory
    function isAttestor(address who) public view returns (bool) {
        return _isMember(ATTESTOR, who);
    }

    /// @inheritdoc IDepositFactory
    function predict(Commitment calldata c) public view returns (address) {
        return Create2.computeAddress(CommitmentLib.hash(c), INIT_CODE_HASH);
    }

    /// @dev Pins the code of a route, so that the code that everybody could read during the delay is the
    /// code that runs.
    function _checkScheduled(bytes32 role, address account) internal override {
        if (role != ROUTE) return;
        bytes memory code = account.code;
        if (code.length == 0) revert NoCode(account);
        (uint8 opcode, uint256 offset) = RouteCode.findForbidden(code);
        if (opcode != 0) revert ForbiddenCode(account, opcode, offset);
        _codeHashes[account] = account.codehash;
    }

    function _checkMember(bytes32 role, address account) internal override {
        if (role != ROUTE) return;
        // The seal lists without a schedule.
        if (_codeHashes[account] == 0) _checkScheduled(role, account);
        _checkCode(account);
    }

    function _isListRole(bytes32 role) internal pure override returns (bool) {
        return role == ROUTE || role == ATTESTOR;
    }

    function _isSingleRole(bytes32 role) internal pure override returns (bool) {
        return role == THRESHOLD || role == TREASURY || super._isSingleRole(role);
    }

    function _holderOf(bytes32 role) internal view override returns (address) {
        if (role == THRESHOLD) return address(uint160(threshold()));
        if (role == TREASURY) return _treasury;
        return super._holderOf(role);
    }

    function _setHolder(bytes32 role, address account) internal override {
        if (role == THRESHOLD) _setThreshold(uint160(account));
        else if (role == TREASURY) _treasury = account;
        else super._setHolder(role, account);
    }

    function _domainName() internal pure override returns (string memory) {
        return "Sluice DepositFactory";
    }

    function _setThreshold(uint256 count) private {
        if (count == 0 || count > THRESHOLD_MAX) revert InvalidThreshold(count, THRESHOLD_MAX);
        _thresholds.set(uint8(count));
        emit ThresholdSet(count);
    }

    /// @dev Refuses everything where no threshold is set: before the seal, or before its time.
    function _checkSigners(bytes32 digest, bytes calldata signatures, uint256 needed, uint256 time)
        private
        view
    {
        uint256 count = signatures.count();
        if (needed == 0 || count < needed) revert TooFewSignatures(count, needed);
        address signer;
        for (uint256 i; i < count; ++i) {
            signer = signatures.signerAt(i, digest, signer);
            if (!isAttestor(signer) && !_wasMember(ATTESTOR, signer, time)) {
                revert NotAttestor(signer);
            }
        }
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
        _checkRoute(job.c, job.route, job.proof);
        address wallet;
        (wallet, amount) = _run(job.c, job.token, job.maxAmount, job.route, job.data);
        emit Settled(wallet, job.token, job.route, amount);
    }

    /// @dev A set of routes narrows the owner's list and never widens it.
    function _checkRoute(Commitment calldata c, address route, bytes32[] calldata proof)
        private
        view
    {
        if (!_isMember(ROUTE, route)) revert NotRoute(route);
        _checkCode(route);
        if (c.flags > CommitmentLib.UNATTENDED) revert UnknownFlags(c.flags);
        bytes32 routes = c.routes;
        if (routes != 0 && !RouteSetLib.contains(routes, route, proof)) {
            revert RouteNotCommitted(route, routes);
        }
    }

    /// @dev Sends the balance, or at most `maxAmount` of it, through a route that was checked. The whole
    /// balance ends an announcement.
    function _run(
        Commitment calldata c,
        address token,
        uint256 maxAmount,
        address route,
        bytes memory data
    ) private returns (address wallet, uint256 amount) {
        wallet = _deploy(c);
        uint256 balance = _balanceOf(token, wallet);
        if (balance == 0) revert Nothing(wallet, token);
        amount = maxAmount == 0 ? balance : Math.min(balance, maxAmount);
        // A relayer that settles crumbs must not end an announcement.
        if (c.flags != 0 && amount == balance) delete _announcements[wallet][token];
        Plan memory plan = IRoute(route).plan(c, wallet, token, amount, data);
        uint256 received = IDepositWallet(wallet).execute(c, token, amount, plan);
        if (plan.promised == 0) {
            IChargedRoute(route).complete(c, wallet, token, amount, received, data);
        }
        uint256 remaining = _balanceOf(token, wallet);
        if (remaining != balance - amount) revert Leftover(wallet, token, remaining);
    }

    /// @dev Accepts a remaining balance: a token that always leaves some behind must stay refundable.
    function _refund(address wallet, address token, uint256 maxAmount, address to, uint8 reason)
        private
        returns (uint256 amount)
    {
        delete _announcements[wallet][token];
        // Without signatures the authority calls, at its own expense.
        amount = IDepositWallet(wallet).refund(token, maxAmount, to, reason != 0);
        if (amount == 0) revert Nothing(wallet, token);
        emit Refunded(wallet, token, to, amount, reason);
    }

    /// @dev Last time of an announcement; in the past without one.
    function _expiryOf(address wallet, address token) private view returns (uint256) {
        return _announcements[wallet][token] + UNATTENDED_DELAY + UNATTENDED_WINDOW;
    }

    function _checkCode(address route) private view {
        if (route.codehash != _codeHashes[route]) revert CodeChanged(route);
    }

    function _balanceOf(address token, address account) private view returns (uint256) {
        return token == address(0) ? account.balance : IERC20(token).balanceOf(account);
    }
}
