// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Commitment } from "../types/Commitment.sol";
import { IGoverned } from "./IGoverned.sol";

/// @title The one contract that moves deposits
/// @notice A deposit address is the CREATE2 address of a fixed proxy under the salt `hashOf(c)`.
/// Callers pass the whole commitment; a changed field gives a different, empty address.
interface IDepositFactory is IGoverned {
    /// @param c The commitment of the wallet to settle.
    /// @param token The token to settle; zero is the native coin.
    /// @param route A listed route.
    /// @param data The relayer's choice inside the route's bounds.
    struct Job {
        Commitment c;
        address token;
        address route;
        bytes data;
    }

    event RelayerSet(address indexed relayer, bool on);
    event WalletDeployed(address indexed wallet, bytes32 indexed commitment);

    /// @notice The wallet's whole balance, `amount`, went through `route`.
    event Settled(
        address indexed wallet, address indexed token, address indexed route, uint256 amount
    );

    /// @notice The wallet's whole balance, `amount`, was refunded to its refund authority.
    event Refunded(
        address indexed wallet, address indexed token, address indexed to, uint256 amount
    );

    /// @notice Job `index` of a batch changed nothing; `reason` is its revert data, cut to 256
    /// bytes.
    event JobFailed(uint256 index, address indexed wallet, bytes reason);

    error NotSealed();
    error NotRelayer(address caller);
    error NotRoute(address route);
    error NotSelf(address caller);
    error NotRefundAuthority(address caller, bytes32 refundAuthority);

    /// @notice The signature is malformed or not by a listed attestor.
    error NotAttestor(address signer);
    error Expired(uint256 deadline, uint256 timestamp);

    /// @notice Refund signatures are valid for ten minutes at most, since their facts change.
    error DeadlineTooFar(uint256 deadline, uint256 latest);

    /// @notice A route must have code when it is listed.
    error NoCode(address route);

    /// @notice The wallet holds nothing of this token.
    error Nothing(address wallet, address token);

    /// @notice The route left a balance, or something came back.
    error Leftover(address wallet, address token, uint256 balance);

    /// @notice The remaining gas does not cover the next job.
    error NeedGas(uint256 available, uint256 needed);

    /// @notice Roles of `schedule`, `execute`, `cancel` and `remove`.
    function ROUTE() external view returns (bytes32);
    function ATTESTOR() external view returns (bytes32);

    function isRoute(address who) external view returns (bool);
    function isRelayer(address who) external view returns (bool);
    function isAttestor(address who) external view returns (bool);

    /// @notice Returns whether an account was listed at a time that is not in the future, whatever
    /// happened to it since. Never changes for a past time: the escrow's claims rest on it.
    function wasRelayer(address who, uint256 time) external view returns (bool);
    function wasAttestor(address who, uint256 time) external view returns (bool);

    /// @notice Returns whether the listed attestors suffice for an attestation.
    function hasEnoughAttestors() external view returns (bool);

    /// @notice Returns the implementation of every wallet.
    function implementation() external view returns (address);

    /// @notice Returns the creation code of every wallet and its hash, which determine an address
    /// together with the salt.
    function initCode() external view returns (bytes memory);
    function initCodeHash() external view returns (bytes32);

    /// @notice The EIP-712 domain of `refundBySignature`.
    function domainSeparator() external view returns (bytes32);

    function hashOf(Commitment calldata c) external pure returns (bytes32);

    /// @notice Returns the deposit address of `c`, deployed or not.
    function predict(Commitment calldata c) external view returns (address);

    /// @notice Lists the first members and opens the factory. Owner only, once.
    function seal(
        address[] calldata routes,
        address[] calldata relayers,
        address[] calldata attestors
    ) external;

    /// @notice Adds a relayer (owner) or removes one (owner or guardian). Without delay, since relayers
    /// choose the time and a listed route, never a recipient. A removed relayer can still claim the
    /// locks of its time.
    function setRelayer(address relayer, bool on) external;

    /// @notice Deploys a wallet; does nothing if it exists. Anybody may call.
    function deploy(Commitment calldata c) external returns (address wallet);
    function deployMany(Commitment[] calldata commitments)
        external
        returns (address[] memory wallets);

    /// @notice Sends a wallet's whole balance through a listed route; deploys the wallet if it is
    /// missing. Relayers only, not while paused.
    function settle(Job calldata job) external returns (uint256 amount);

    /// @notice Settles each job independently: a failing one emits `JobFailed` and reverts no
    /// other.
    /// @dev A caught failure misleads gas estimation, which looks for the least gas that does not
    /// revert. `gasPerJob` is therefore required before each job, and the whole batch reverts with
    /// `NeedGas` below it. Count `Settled` in the receipt: status 1 proves nothing about a job.
    /// @param gasPerJob Gas limit of every single job.
    /// @return done Number of settled jobs.
    function settleMany(Job[] calldata jobs, uint256 gasPerJob) external returns (uint256 done);

    /// @notice One job of `settleMany`. Callable only by the factory itself.
    function settleJob(Job calldata job) external returns (uint256 amount);

    /// @notice Refunds a wallet's whole balance to the refund authority, who must be the caller.
    /// Always works: paused, unsealed, for any token.
    function refund(Commitment calldata c, address token) external returns (uint256 amount);

    /// @notice Refunds on behalf of the refund authority, by a relayer and an attestor together.
    /// @param signature By an attestor over `Refund(address wallet,address token,uint256
    /// deadline)`.
    function refundBySignature(
        Commitment calldata c,
        address token,
        uint256 deadline,
        bytes calldata signature
    ) external returns (uint256 amount);
}
