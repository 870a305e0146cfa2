// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEip712 } from "../src/interfaces/IEip712.sol";
import { PricedRoute } from "../src/routes/PricedRoute.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice Wallets and explorers read the domain of each contract from the contract (EIP-5267).
contract DomainsTest is Fixture {
    function test_eip712Domain_IsTheDomainOfTheSignatures() public {
        PricedRoute route = new PricedRoute(pairOf(address(usdc)));
        _check(factory, "Sluice DepositFactory");
        _check(escrow, "Sluice Escrow");
        _check(delivery, "Sluice Delivery");
        _check(route, "Sluice PricedRoute");
        vm.chainId(99);
        _check(escrow, "Sluice Escrow");
    }

    function _check(IEip712 verifier, string memory expected) private view {
        (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        ) = verifier.eip712Domain();
        assertEq(bytes32(fields), bytes32(hex"0f"), "name, version, chain id, contract");
        assertEq(keccak256(bytes(name)), keccak256(bytes(expected)), "name");
        assertEq(keccak256(bytes(version)), keccak256("1"), "version");
        assertEq(chainId, block.chainid, "chain id");
        assertEq(verifyingContract, address(verifier), "contract");
        assertEq(salt, bytes32(0), "salt");
        assertEq(extensions.length, 0, "extensions");
        assertEq(
            verifier.domainSeparator(), domainOf(expected, verifyingContract), "the same domain"
        );
    }
}
