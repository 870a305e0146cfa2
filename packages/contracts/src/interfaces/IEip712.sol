// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A contract that verifies EIP-712 signatures
interface IEip712 {
    /// @notice Returns the hash of the domain that signatures for this contract name.
    function domainSeparator() external view returns (bytes32);

    /// @notice Returns the fields of that domain (EIP-5267).
    function eip712Domain()
        external
        view
        returns (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        );
}
