// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { DepositFactory } from "../src/DepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { DeliveryIdLib } from "../src/types/DeliveryId.sol";
import { Test } from "./support/Vm.sol";

/// @notice Compares addresses and ids with those that the service computes, from the same file.
contract VectorsTest is Test {
    string private _json;
    mapping(address where => DepositFactory) private _factories;

    function setUp() public {
        _json = vm.readFile("vectors/addresses.json");
    }

    function test_predict_AgreesWithEveryVector() public {
        _deployFactories();
        uint256 count;
        for (; _has(".wallets", count); ++count) {
            string memory entry = _entryOf(".wallets", count);
            DepositFactory factory = _factories[_address(entry, ".factory")];
            Commitment memory c = _commitment(string.concat(entry, ".commitment"));
            assertEq(factory.hashOf(c), _word(entry, ".hash"), string.concat("hash of ", entry));
            assertEq(
                factory.predict(c), _address(entry, ".wallet"), string.concat("wallet of ", entry)
            );
        }
        assertEq(count, 27, "vectors read");
    }

    function test_compute_AgreesWithEveryDeliveryVector() public view {
        uint256 count;
        for (; _has(".deliveries", count); ++count) {
            string memory entry = _entryOf(".deliveries", count);
            bytes32 id = DeliveryIdLib.compute(
                uint16(_uint(entry, ".srcChain")),
                _word(entry, ".escrow"),
                _word(entry, ".wallet"),
                _word(entry, ".token"),
                uint64(_uint(entry, ".seq"))
            );
            assertEq(id, _word(entry, ".deliveryId"), string.concat("delivery id of ", entry));
        }
        assertEq(count, 9, "vectors read");
    }

    function test_deploy_LandsOnThePredictedAddressOfEveryVector() public {
        _deployFactories();
        for (uint256 i; _has(".wallets", i); ++i) {
            string memory entry = _entryOf(".wallets", i);
            DepositFactory factory = _factories[_address(entry, ".factory")];
            address wallet = factory.deploy(_commitment(string.concat(entry, ".commitment")));
            assertEq(wallet, _address(entry, ".wallet"), entry);
            assertTrue(wallet.code.length == 51, "code");
        }
    }

    function _deployFactories() private {
        uint256 count;
        for (; _has(".factories", count); ++count) {
            string memory entry = _entryOf(".factories", count);
            vm.prank(_address(entry, ".deployer"));
            DepositFactory factory = new DepositFactory(address(this), address(this), 1);
            assertEq(address(factory), _address(entry, ".factory"), "factory");
            assertEq(factory.implementation(), _address(entry, ".implementation"), "implementation");
            assertEq(factory.initCodeHash(), _word(entry, ".initCodeHash"), "init code hash");
            assertEq(factory.initCodeHash(), keccak256(factory.initCode()), "init code");
            factory.seal(new address[](0), new address[](0), new address[](0));
            _factories[address(factory)] = factory;
        }
        assertEq(count, 3, "factories read");
    }

    function _commitment(string memory entry) private view returns (Commitment memory) {
        return Commitment({
            integrator: _word(entry, ".integrator"),
            userId: _word(entry, ".userId"),
            destChain: uint16(_uint(entry, ".destChain")),
            destWallet: _word(entry, ".destWallet"),
            destToken: _word(entry, ".destToken"),
            refundAuthority: _word(entry, ".refundAuthority"),
            maxFeeBps: uint16(_uint(entry, ".maxFeeBps")),
            maxSlippageBps: uint16(_uint(entry, ".maxSlippageBps"))
        });
    }

    function _has(string memory list, uint256 index) private view returns (bool) {
        return vm.keyExistsJson(_json, _entryOf(list, index));
    }

    function _entryOf(string memory list, uint256 index) private pure returns (string memory) {
        return string.concat(list, "[", vm.toString(index), "]");
    }

    function _word(string memory entry, string memory field) private view returns (bytes32) {
        return vm.parseJsonBytes32(_json, string.concat(entry, field));
    }

    function _uint(string memory entry, string memory field) private view returns (uint256) {
        return vm.parseJsonUint(_json, string.concat(entry, field));
    }

    function _address(string memory entry, string memory field) private view returns (address) {
        return vm.parseJsonAddress(_json, string.concat(entry, field));
    }
}
