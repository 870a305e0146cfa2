// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Delivery } from "../src/Delivery.sol";
import { DepositFactory } from "../src/DepositFactory.sol";
import { Escrow } from "../src/Escrow.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEip712 } from "../src/interfaces/IEip712.sol";
import { IEscrowRoute } from "../src/interfaces/IEscrowRoute.sol";
import { PricedRoute } from "../src/routes/PricedRoute.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { DeliveryIdLib, LockFacts } from "../src/types/DeliveryId.sol";
import { RouteSetLib } from "../src/types/RouteSet.sol";
import { Signatures } from "../src/types/Signatures.sol";
import { Test } from "./support/Vm.sol";

/// @notice Compares addresses and ids with those that the service computes, from the same file.
contract VectorsTest is Test {
    bytes32 private constant PRICES = keccak256("Sluice PricedRoute");
    address private constant USDC = address(3);

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
        assertEq(count, 32, "vectors read");
    }

    function test_compute_AgreesWithEveryDeliveryVector() public view {
        uint256 count;
        for (; _has(".deliveries", count); ++count) {
            string memory entry = _entryOf(".deliveries", count);
            LockFacts memory facts = LockFacts({
                srcChain: uint16(_uint(entry, ".srcChain")),
                escrow: _word(entry, ".escrow"),
                delivery: _word(entry, ".delivery"),
                commitment: _word(entry, ".commitment"),
                token: _word(entry, ".token"),
                amount: _uint(entry, ".amount"),
                minOut: _uint(entry, ".minOut"),
                seq: uint64(_uint(entry, ".seq"))
            });
            bytes32 id = DeliveryIdLib.compute(facts);
            assertEq(id, _word(entry, ".deliveryId"), string.concat("delivery id of ", entry));
        }
        assertEq(count, 14, "vectors read");
    }

    function test_contains_AgreesWithEveryRouteSetVector() public {
        uint256 count;
        for (; _has(".routeSets", count); ++count) {
            string memory entry = _entryOf(".routeSets", count);
            bytes32 root = _word(entry, ".root");
            string memory leaves = string.concat(entry, ".leaves");
            for (uint256 i; _has(leaves, i); ++i) {
                string memory leaf = _entryOf(leaves, i);
                bytes32[] memory proof =
                    vm.parseJsonBytes32Array(_json, string.concat(leaf, ".proof"));
                address route = _address(leaf, ".route");
                vm.chainId(_uint(leaf, ".evmChainId"));
                assertTrue(this.contains(root, route, proof), leaf);
                vm.chainId(77);
                assertTrue(!this.contains(root, route, proof), "on another chain");
            }
        }
        assertEq(count, 6, "vectors read");
    }

    /// @dev Through the domain of a `Delivery` at the vector's address.
    function test_payoutDigest_AgreesWithEveryVector() public {
        _deployFactories();
        address factory = vm.parseJsonAddress(_json, ".factories[0].factory");
        bytes memory code = address(new Delivery(address(this), address(1), 1, factory, 1, 1)).code;
        uint256 count;
        for (; _has(".payouts", count); ++count) {
            string memory entry = _entryOf(".payouts", count);
            bytes32 structHash = keccak256(
                abi.encode(
                    keccak256("Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)"),
                    _word(entry, ".deliveryId"),
                    _uint(entry, ".amount"),
                    _uint(entry, ".windowStart")
                )
            );
            address at = _address(entry, ".contract");
            vm.etch(at, code);
            vm.chainId(_uint(entry, ".evmChainId"));
            bytes32 domain = Delivery(payable(at)).domainSeparator();
            bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, structHash));
            assertEq(digest, _word(entry, ".digest"), string.concat("digest of ", entry));
        }
        assertEq(count, 8, "vectors read");
    }

    /// @dev Through the domain that the factory returns (EIP-5267 and `domainSeparator`).
    function test_refundDigest_AgreesWithEveryVector() public {
        _deployFactories();
        uint256 count;
        for (; _has(".refunds", count); ++count) {
            string memory entry = _entryOf(".refunds", count);
            bytes32 structHash = keccak256(
                abi.encode(
                    keccak256(
                        "Refund(address wallet,address token,uint256 maxAmount,uint8 reason,"
                        "uint256 deadline)"
                    ),
                    _address(entry, ".wallet"),
                    _address(entry, ".token"),
                    _uint(entry, ".maxAmount"),
                    _uint(entry, ".reason"),
                    _uint(entry, ".deadline")
                )
            );
            vm.chainId(_uint(entry, ".evmChainId"));
            bytes32 domain = _factories[_address(entry, ".factory")].domainSeparator();
            bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, structHash));
            assertEq(digest, _word(entry, ".digest"), string.concat("digest of ", entry));
        }
        assertEq(count, 11, "vectors read");
    }

    /// @dev Through the domain of a contract at the vector's address, whose code has the type's hash.
    function test_messageDigest_AgreesWithEveryVector() public {
        _deployFactories();
        address factory = vm.parseJsonAddress(_json, ".factories[0].factory");
        address escrow = address(new Escrow(factory, 2, 1));
        bytes memory priced =
            address(new PricedRoute(IEscrowRoute.Pair(1, 2, USDC, 6, escrow, 30, 0, 18, "there")))
        .code;
        uint256 count;
        for (; _has(".messages", count); ++count) {
            string memory entry = _entryOf(".messages", count);
            bool isPrice = keccak256(bytes(_string(entry, ".domain"))) == PRICES;
            bytes memory code = isPrice ? priced : escrow.code;
            bytes32 typeHash = keccak256(bytes(_string(entry, ".type")));
            assertTrue(_holds(code, typeHash), string.concat("type of ", entry));
            bytes memory fields = abi.encode(typeHash);
            string memory list = string.concat(entry, ".fields");
            for (uint256 i; _has(list, i); ++i) {
                fields = abi.encodePacked(fields, vm.parseJsonUint(_json, _entryOf(list, i)));
            }
            address at = _address(entry, ".contract");
            vm.etch(at, code);
            vm.chainId(_uint(entry, ".evmChainId"));
            bytes32 domain = IEip712(at).domainSeparator();
            bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, keccak256(fields)));
            assertEq(digest, _word(entry, ".digest"), string.concat("digest of ", entry));
        }
        assertEq(count, 21, "vectors read");
    }

    /// @dev Through a factory with the vector's attestors and threshold.
    function test_signatures_AreAcceptedAndRefusedAsEveryVectorSays() public {
        uint256 count;
        for (; _has(".signatures", count); ++count) {
            string memory entry = _entryOf(".signatures", count);
            DepositFactory factory = new DepositFactory(address(this), address(1), 1);
            address[] memory attestors =
                vm.parseJsonAddressArray(_json, string.concat(entry, ".attestors"));
            uint256 threshold = _uint(entry, ".threshold");
            factory.seal(new address[](0), new address[](0), attestors, threshold, address(2));
            bytes memory signatures = vm.parseJsonBytes(_json, string.concat(entry, ".signatures"));
            string memory refusal = "";
            try factory.checkAttested(_word(entry, ".digest"), signatures) { }
            catch (bytes memory reason) {
                refusal = _nameOf(bytes4(reason));
            }
            bytes32 wanted = keccak256(bytes(_string(entry, ".refusal")));
            assertEq(keccak256(bytes(refusal)), wanted, string.concat("refusal of ", entry));
        }
        assertEq(count, 13, "vectors read");
    }

    function _nameOf(bytes4 selector) private pure returns (string memory) {
        if (selector == IDepositFactory.TooFewSignatures.selector) return "TooFewSignatures";
        if (selector == IDepositFactory.NotAttestor.selector) return "NotAttestor";
        if (selector == Signatures.UnsortedSignatures.selector) return "UnsortedSignatures";
        if (selector == Signatures.MalformedSignatures.selector) return "MalformedSignatures";
        return "another";
    }

    /// @dev Reports whether 32 bytes of code in a row are the word.
    function _holds(bytes memory code, bytes32 word) private pure returns (bool) {
        for (uint256 i = 32; i <= code.length; ++i) {
            bytes32 found;
            assembly ("memory-safe") {
                found := mload(add(code, i))
            }
            if (found == word) return true;
        }
        return false;
    }

    function _string(string memory entry, string memory field)
        private
        view
        returns (string memory)
    {
        return vm.parseJsonString(_json, string.concat(entry, field));
    }

    /// @dev External, since proofs are calldata.
    function contains(bytes32 root, address route, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        return RouteSetLib.contains(root, route, proof);
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
            DepositFactory factory = new DepositFactory(address(this), address(1), 1);
            assertEq(address(factory), _address(entry, ".factory"), "factory");
            assertEq(factory.implementation(), _address(entry, ".implementation"), "implementation");
            assertEq(factory.initCodeHash(), _word(entry, ".initCodeHash"), "init code hash");
            assertEq(factory.initCodeHash(), keccak256(factory.initCode()), "init code");
            factory.seal(new address[](0), new address[](0), new address[](0), 1, address(2));
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
            maxSlippageBps: uint16(_uint(entry, ".maxSlippageBps")),
            routes: _word(entry, ".routes"),
            flags: uint16(_uint(entry, ".flags"))
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
