// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A route that burns USDC here for Circle's CCTP v2 to mint on one other chain
/// @notice The mint recipient is the committed wallet and anybody may hand the message in there, so
/// neither the relayer nor whoever mints has a say in where it goes. What the bridge may keep
/// (`maxFee`) counts towards the committed fee cap, whether it keeps it or not.
interface ICctpBurn {
    /// @notice Emitted by the wallet. `amount` was burned; `recipient` gets it on domain
    /// `destDomain`, less at most `maxFee`. `fee` of `token` reached the fee recipient before; it is
    /// zero where the fee was taken in another token, before a swap.
    event Burned(
        address indexed wallet,
        address token,
        uint256 amount,
        uint256 fee,
        uint256 maxFee,
        uint32 destDomain,
        bytes32 recipient
    );

    /// @notice Circle knows 1000 (confirmed) and 2000 (finalized).
    error InvalidFinality(uint32 threshold);

    /// @notice The messenger took another amount than it was told to burn.
    error BurnedOther(uint256 burned, uint256 amount);
}
