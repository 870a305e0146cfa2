// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title EVM addresses in 32-byte fields
/// @notice Fields that may hold an address of another family are 32 bytes wide. A value whose upper
/// 96 bits are set is refused as an EVM address: truncation would pay a stranger.
library Address32 {
    /// @notice `value` is not a left-padded EVM address.
    error NotAnAddress(bytes32 value);

    function toBytes32(address value) internal pure returns (bytes32) {
        return bytes32(uint256(uint160(value)));
    }

    /// @dev Zero passes: it is the native coin in a token field.
    function toAddress(bytes32 value) internal pure returns (address) {
        if (uint256(value) > type(uint160).max) revert NotAnAddress(value);
        return address(uint160(uint256(value)));
    }

    /// @dev For fields that name an account: zero would burn the funds.
    function toNonZeroAddress(bytes32 value) internal pure returns (address) {
        if (value == 0) revert NotAnAddress(value);
        return toAddress(value);
    }
}
