// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEip712 } from "./interfaces/IEip712.sol";

/// @title EIP-712 domain of a contract
/// @notice Computed on each use with the live chain id, so a signature is never valid after a chain
/// split. OpenZeppelin's EIP712 needs instructions that old L2s lack.
abstract contract Eip712 is IEip712 {
    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    string private constant VERSION = "1";
    bytes32 private constant VERSION_HASH = keccak256(bytes(VERSION));

    /// @dev EIP-5267: name, version, chain id and contract; no salt.
    bytes1 private constant FIELDS = hex"0f";

    bytes32 private immutable NAME_HASH = keccak256(bytes(_domainName()));

    /// @inheritdoc IEip712
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
        )
    {
        return (FIELDS, _domainName(), VERSION, block.chainid, address(this), salt, extensions);
    }

    /// @inheritdoc IEip712
    function domainSeparator() public view returns (bytes32) {
        return keccak256(
            abi.encode(DOMAIN_TYPEHASH, NAME_HASH, VERSION_HASH, block.chainid, address(this))
        );
    }

    function _domainName() internal pure virtual returns (string memory);

    /// @dev Returns the digest that is signed for `structHash`.
    function _digestOf(bytes32 structHash) internal view returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domainSeparator(), structHash));
    }
}
