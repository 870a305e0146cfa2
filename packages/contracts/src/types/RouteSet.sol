// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { MerkleProof } from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";

/// @title The committed set of routes
/// @notice The standard Merkle tree of OpenZeppelin over pairs of EVM chain id and route. A leaf is
/// hashed twice, so that an inner node is never a leaf; pairs are sorted, so that a proof needs no
/// directions. The proof of a set of one is empty.
/// @dev Never change it: a root is part of a deposit address.
library RouteSetLib {
    /// @notice Returns whether a route on this chain belongs to the set.
    function contains(bytes32 root, address route, bytes32[] calldata proof)
        internal
        view
        returns (bool)
    {
        return MerkleProof.verifyCalldata(proof, root, leafOf(block.chainid, route));
    }

    function leafOf(uint256 evmChainId, address route) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(evmChainId, route))));
    }
}
