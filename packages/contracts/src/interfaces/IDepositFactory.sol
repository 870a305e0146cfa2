// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IEip712 } from "./IEip712.sol";
import { IGoverned } from "./IGoverned.sol";

/// @title The one contract that moves deposits
/// @notice A deposit address is the CREATE2 address of a fixed proxy under the salt `hashOf(c)`.
/// Callers pass the whole commitment; a changed field gives a different, empty address.
interface IDepositFactory is IGoverned, IEip712 {
    /// @param c The commitment of the wallet to settle.
    /// @param token The token to settle; zero is the native coin.
    /// @param maxAmount Base units to settle at most, so that a balance above a route's limits goes in
    /// parts; zero means the whole balance.
    /// @param route A listed route.
    /// @param data The relayer's choice inside the route's bounds.
    /// @param proof Of the route in the commitment's set (`RouteSetLib`); empty without a set.
    struct Job {
        Commitment c;
        address token;
        uint256 maxAmount;
        address route;
        bytes data;
        bytes32[] proof;
    }

    event RelayerSet(address indexed relayer, bool on);
    event ThresholdSet(uint256 threshold);
    event SecurityContactSet(string contact);
    event WalletDeployed(address indexed wallet, bytes32 indexed commitment);

    /// @notice `amount`, at most the wallet's balance, went through `route`.
    event Settled(
        address indexed wallet, address indexed token, address indexed route, uint256 amount
    );

    /// @notice `amount`, at most the wallet's balance, was refunded to its refund authority.
    /// @param reason As in `refundBySignature`; zero for a refund by the authority itself.
    event Refunded(
        address indexed wallet,
        address indexed token,
        address indexed to,
        uint256 amount,
        uint8 reason
    );

    /// @notice Anybody may settle the wallet's balance of `token` from `readyAt` to `until`, unless
    /// it is settled or refunded before.
    event SettlementAnnounced(
        address indexed wallet, address indexed token, uint256 readyAt, uint256 until
    );

    /// @notice The wallet's whole balance, `amount`, went through `route` without the operator. An event
    /// of its own, since no settlement of the operator accounts for it.
    event SettledUnattended(
        address indexed wallet, address indexed token, address indexed route, uint256 amount
    );

    /// @notice Job `index` of a batch changed nothing; `reason` is its revert data, cut to 256
    /// bytes.
    event JobFailed(uint256 index, address indexed wallet, bytes reason);

    error NotSealed();
    error NotRelayer(address caller);
    error NotRoute(address route);

    /// @notice The address commits a set of routes, and the proof does not show this one in it.
    error RouteNotCommitted(address route, bytes32 routes);

    /// @notice The commitment sets a flag without a meaning; only a refund remains.
    error UnknownFlags(uint16 flags);

    /// @notice The commitment does not allow a settlement without the operator.
    error NotUnattended(uint16 flags);

    /// @notice An announcement stands, and another would put it off.
    error AlreadyAnnounced(address wallet, address token, uint256 until);

    /// @notice Nothing is announced, or the wallet was settled or refunded since, or it expired.
    error NotAnnounced(address wallet, address token);
    error NotSelf(address caller);
    error NotRefundAuthority(address caller, bytes32 refundAuthority);

    /// @notice A signature is malformed or not by an attestor that may give it.
    error NotAttestor(address signer);

    /// @notice Fewer signatures than the threshold.
    error TooFewSignatures(uint256 count, uint256 needed);
    error InvalidThreshold(uint256 threshold, uint256 max);
    error Expired(uint256 deadline, uint256 timestamp);

    /// @notice Refund signatures are valid for ten minutes at most, since their facts change.
    error DeadlineTooFar(uint256 deadline, uint256 latest);

    /// @notice A refund by signatures has one of the reasons 1 to 4.
    error UnknownReason(uint8 reason);

    /// @notice A refund of the wallet and token with this deadline or a later one was made: signatures
    /// work once, and never for a later deposit.
    error AlreadyRefunded(address wallet, address token, uint256 deadline);

    /// @notice A route must have code when it is listed.
    error NoCode(address route);

    /// @notice The byte at `offset` of the route's code may not be there: DELEGATECALL, CALLCODE and
    /// SELFDESTRUCT run or allow other code than was listed, and a leading 0xEF marks an account that
    /// delegates.
    error ForbiddenCode(address route, uint8 opcode, uint256 offset);

    /// @notice The route's code is not the code that was scheduled.
    error CodeChanged(address route);

    /// @notice The wallet holds nothing of this token.
    error Nothing(address wallet, address token);

    /// @notice The wallet holds another balance than what the settlement left: the route took too
    /// little, or something came back.
    error Leftover(address wallet, address token, uint256 balance);

    /// @notice The remaining gas does not cover the next job.
    error NeedGas(uint256 available, uint256 needed);

    /// @notice Roles of `schedule`, `execute`, `cancel` and `remove`.
    function ROUTE() external view returns (bytes32);
    function ATTESTOR() external view returns (bytes32);

    /// @notice Roles with one holder, for `schedule`, `execute` and `cancel`. The holder of
    /// `THRESHOLD` is the number itself, as an address: a higher and a lower one wait out the delay.
    function THRESHOLD() external view returns (bytes32);
    function TREASURY() external view returns (bytes32);

    /// @notice Returns the highest possible threshold.
    function THRESHOLD_MAX() external view returns (uint256);

    function isRoute(address who) external view returns (bool);
    function isRelayer(address who) external view returns (bool);
    function isAttestor(address who) external view returns (bool);

    /// @notice Returns whether an account was listed at a time that is not in the future, whatever
    /// happened to it since. Never changes for a past time: the escrow's claims rest on it.
    function wasRelayer(address who, uint256 time) external view returns (bool);
    function wasAttestor(address who, uint256 time) external view returns (bool);

    /// @notice Returns the number of attestors that must sign an attestation.
    function threshold() external view returns (uint256);

    /// @notice Returns the lowest threshold in force during a second that is not in the future.
    function lowestThresholdAt(uint256 time) external view returns (uint256);

    /// @notice Returns whether the listed attestors suffice for an attestation.
    function hasEnoughAttestors() external view returns (bool);

    /// @notice Reverts unless the listed attestors signed `digest`, as many as the threshold.
    /// @param signatures 65 bytes each (r, s, v), sorted by signer, strictly ascending. All must be
    /// valid.
    function checkAttested(bytes32 digest, bytes calldata signatures) external view;

    /// @notice The same with attestors that are listed now or were at `time`, which is not in the
    /// future, and the lower of the thresholds then and now: no removal and no higher threshold may
    /// keep the operator from a claim. Never use it for anything but claims.
    function checkAttestedAt(bytes32 digest, bytes calldata signatures, uint256 time) external view;

    /// @notice The account that claims and withdrawn inventory are paid to.
    function treasury() external view returns (address);

    /// @notice Where to report a vulnerability; set by the owner.
    function securityContact() external view returns (string memory);

    /// @notice Returns the implementation of every wallet.
    function implementation() external view returns (address);

    /// @notice Returns the creation code of every wallet and its hash, which determine an address
    /// together with the salt.
    function initCode() external view returns (bytes memory);
    function initCodeHash() external view returns (bytes32);

    function hashOf(Commitment calldata c) external pure returns (bytes32);

    /// @notice Returns the deposit address of `c`, deployed or not.
    function predict(Commitment calldata c) external view returns (address);

    /// @notice Lists the first members, sets threshold and treasury, and opens the factory. Owner
    /// only, once.
    function seal(
        address[] calldata routes,
        address[] calldata relayers,
        address[] calldata attestors,
        uint256 threshold,
        address treasury
    ) external;

    /// @notice Adds a relayer (owner) or removes one (owner or guardian). Without delay, since relayers
    /// choose the time and a listed route, never a recipient. A removed relayer can still claim the
    /// locks of its time.
    function setRelayer(address relayer, bool on) external;

    function setSecurityContact(string calldata contact) external;

    /// @notice Deploys a wallet; does nothing if it exists. Anybody may call.
    function deploy(Commitment calldata c) external returns (address wallet);
    function deployMany(Commitment[] calldata commitments)
        external
        returns (address[] memory wallets);

    /// @notice Sends a wallet's balance, or at most `maxAmount` of it, through a listed route, which must
    /// also be in the commitment's set of routes, if it has one; deploys the wallet if it is missing.
    /// Relayers only, not while paused.
    function settle(Job calldata job) external returns (uint256 amount);

    /// @notice Settles each job independently: a failing one emits `JobFailed` and reverts no
    /// other.
    /// @dev A caught failure misleads gas estimation, which looks for the least gas that does not
    /// revert. `gasPerJob` is therefore required before each job, and the whole batch reverts with
    /// `NeedGas` below it. Count `Settled` in the receipt: status 1 proves nothing about a job.
    /// @param gasPerJob Gas limit of every single job.
    /// @return done Number of settled jobs.
    function settleMany(Job[] calldata jobs, uint256 gasPerJob) external returns (uint256 done);

    /// @notice Announces a settlement without the operator. Anybody may call, if the commitment allows
    /// it and the wallet holds some of the token. A settlement of the whole balance or a refund ends it.
    function announceSettlement(Commitment calldata c, address token) external;

    /// @notice Settles an announced wallet and token 72 hours after the announcement and within 14
    /// days from then. Anybody may call. The route must be listed, committed where there is a set,
    /// and declare `IUnattendedRoute`, which chooses every parameter; the operator takes no fee.
    /// @param proof As in `Job`.
    function settleUnattended(
        Commitment calldata c,
        address token,
        address route,
        bytes32[] calldata proof
    ) external returns (uint256 amount);

    /// @notice Time of the announcement that stands for a wallet and token; zero for none.
    function settlementAnnouncedAt(address wallet, address token) external view returns (uint256);

    /// @notice One job of `settleMany`. Callable only by the factory itself.
    function settleJob(Job calldata job) external returns (uint256 amount);

    /// @notice Refunds a wallet's balance to the refund authority, who must be the caller, or a part
    /// of it. Always works: paused, unsealed, for any token, with or without a set of routes.
    /// @param maxAmount Refunds no more than this: tokens with a maximum per transfer, or a fee on
    /// top of it, leave in parts.
    function refund(Commitment calldata c, address token, uint256 maxAmount)
        external
        returns (uint256 amount);

    /// @notice Refunds to the refund authority, by a relayer and the attestors together, once per
    /// deadline of a wallet and token.
    /// @param maxAmount The most to refund: the balance for which the attestors saw the reason.
    /// @param reason 1 below minimum, 2 unlisted, 3 dead, 4 expired; `docs/formats.md` defines each.
    /// @param signatures As in `checkAttested`, over `Refund(address wallet,address token,uint256
    /// maxAmount,uint8 reason,uint256 deadline)`.
    function refundBySignature(
        Commitment calldata c,
        address token,
        uint256 maxAmount,
        uint8 reason,
        uint256 deadline,
        bytes calldata signatures
    ) external returns (uint256 amount);
}
