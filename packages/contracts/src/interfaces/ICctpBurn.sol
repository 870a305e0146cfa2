// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A route that burns USDC here for Circle's CCTP v2 to mint on one other chain
/// @notice The mint recipient is the committed wallet and anybody may submit the message there, so
/// neither the relayer nor the minter chooses the recipient. The message's hook data is the deposit
/// wallet, 32 bytes. `maxFee`, the most that the bridge may
/// keep, counts towards the committed fee cap whether the bridge keeps it or not.
interface ICctpBurn {
    /// @notice `amount` of the wallet's deposit was burned; `recipient` gets it on domain
    /// `destDomain`, less at most `maxFee`. `fee` of `token` was paid to the fee recipient before; it is
    /// zero if the fee was taken in another token, before a pool swap.
    event Burned(
        address indexed wallet,
        address token,
        uint256 amount,
        uint256 fee,
        uint256 maxFee,
        uint32 destDomain,
        bytes32 recipient
    );

    /// @notice Circle defines 1000 (confirmed) and 2000 (finalized).
    error InvalidFinality(uint32 threshold);

    /// @notice The messenger took another amount than the amount to burn.
    error BurnedOther(uint256 burned, uint256 amount);
}
