// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositWallet } from "../src/interfaces/IDepositWallet.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { OldSender, Refuser } from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice The code of a deposit address: its bytes, the calls it accepts, and its only caller.
contract DepositWalletTest is Fixture {
    uint8 private constant PUSH0 = 0x5f;
    uint8 private constant PUSH1 = 0x60;
    uint8 private constant PUSH32 = 0x7f;
    uint8 private constant CALLCODE = 0xf2;
    uint8 private constant SELFDESTRUCT = 0xff;

    IDepositWallet private _wallet;

    function setUp() public override {
        super.setUp();
        _wallet = IDepositWallet(factory.predict(localCommitment(address(usdc))));
    }

    function test_code_IsExactlyTheProxy() public {
        _deploy();
        bytes memory expected = abi.encodePacked(
            hex"36600557005b363d3d373d3d3d363d73",
            factory.implementation(),
            hex"5af43d82803e903d91603157fd5bf3"
        );
        assertEq(expected.length, 51, "length");
        assertEq(keccak256(address(_wallet).code), keccak256(expected), "bytes");
        assertEq(
            keccak256(factory.initCode()),
            keccak256(abi.encodePacked(hex"3d603380600a3d3981f3", expected)),
            "init code"
        );
    }

    function test_T06_receive_TakesOldTransfersBeforeAndAfterDeployment() public {
        OldSender sender = new OldSender();
        sender.send{ value: 1 }(payable(address(_wallet)));
        _deploy();
        sender.send{ value: 2 }(payable(address(_wallet)));
        assertEq(address(_wallet).balance, 3, "balance");
    }

    function test_T06_receive_TakesATransferWithoutAnyGasOfItsOwnBeyondTheStipend() public {
        _deploy();
        vm.deal(address(this), 1);
        (bool ok,) = address(_wallet).call{ value: 1, gas: 0 }("");
        assertTrue(ok, "accepted");
    }

    function test_implementation_RefusesNativeCoin() public {
        vm.deal(address(this), 1);
        (bool ok,) = factory.implementation().call{ value: 1 }("");
        assertTrue(!ok, "refused");
    }

    function test_run_RevertsWhenCallerIsNotTheFactory() public {
        _deploy();
        Commitment memory c = localCommitment(address(usdc));
        vm.expectRevert(abi.encodeWithSelector(IDepositWallet.NotFactory.selector, RELAYER));
        vm.prank(RELAYER);
        _wallet.run(address(transferRoute), c, address(usdc), "");
    }

    function test_refund_RevertsWhenCallerIsNotTheFactory() public {
        _deploy();
        vm.expectRevert(abi.encodeWithSelector(IDepositWallet.NotFactory.selector, REFUNDEE));
        vm.prank(REFUNDEE);
        _wallet.refund(address(usdc), REFUNDEE);
    }

    function test_run_PassesOnReturnValuesAndReasons() public {
        _deploy();
        Commitment memory c = localCommitment(NATIVE);
        c.destWallet = word(address(new Refuser()));
        vm.deal(address(_wallet), 1);
        vm.expectRevert(abi.encodeWithSelector(Refuser.NoThanks.selector));
        vm.prank(address(factory));
        _wallet.run(address(nativeRoute), c, NATIVE, feeOf(0));
        c.destWallet = word(RECIPIENT);
        vm.prank(address(factory));
        assertEq(_wallet.run(address(nativeRoute), c, NATIVE, feeOf(0)), 1, "amount");
        vm.prank(address(factory));
        assertEq(_wallet.run(address(nativeRoute), c, NATIVE, feeOf(0)), 0, "then nothing");
    }

    function testFuzz_run_RevertsWhenCallerIsNotTheFactory(address caller, bytes calldata data)
        public
    {
        vm.assume(caller != address(factory) && data.length > 0);
        _deploy();
        usdc.mint(address(_wallet), 1);
        vm.prank(caller);
        (bool ok,) = address(_wallet).call(data);
        assertTrue(!ok, "refused");
    }

    function test_T22_opcodes_NothingNeedsANewChainAndNothingSelfDestructs() public {
        _deploy();
        address[] memory contracts = new address[](9);
        contracts[0] = address(_wallet);
        contracts[1] = factory.implementation();
        contracts[2] = address(factory);
        contracts[3] = address(transferRoute);
        contracts[4] = address(nativeRoute);
        contracts[5] = address(escrowRoute);
        contracts[6] = address(escrow);
        contracts[7] = address(delivery);
        contracts[8] = address(usdc);
        for (uint256 i; i < contracts.length; ++i) {
            _checkOpcodes(contracts[i].code);
        }
    }

    function test_opcodes_TheCheckSeesPush0AndSelfDestruct() public pure {
        assertEq(_count(hex"5f", PUSH0), 1, "PUSH0");
        assertEq(_count(hex"61ffff33ff", SELFDESTRUCT), 1, "after push data");
        assertEq(
            _count(hex"605f7f0000000000000000000000000000000000ff00000000000000000000005f", PUSH0),
            0,
            "in push data"
        );
    }

    function _checkOpcodes(bytes memory code) private pure {
        assertTrue(code.length > 0, "has code");
        assertEq(_count(code, PUSH0), 0, "PUSH0");
        assertEq(_count(code, SELFDESTRUCT), 0, "SELFDESTRUCT");
        assertEq(_count(code, CALLCODE), 0, "CALLCODE");
        // BASEFEE of London is the newest allowed instruction; 0x49 to 0x4f came later,
        // and 0x5c to 0x5e are transient storage and MCOPY.
        for (uint8 opcode = 0x49; opcode <= 0x4f; ++opcode) {
            assertEq(_count(code, opcode), 0, "newer block instruction");
        }
        for (uint8 opcode = 0x5c; opcode <= 0x5e; ++opcode) {
            assertEq(_count(code, opcode), 0, "TLOAD, TSTORE or MCOPY");
        }
    }

    /// @dev Counts an opcode in code, without push data. Contracts have data only after a final
    /// INVALID instruction; the count includes it and is too high at worst, never too low.
    function _count(bytes memory code, uint8 opcode) private pure returns (uint256 count) {
        for (uint256 i; i < code.length; ++i) {
            uint8 here = uint8(code[i]);
            if (here == opcode) ++count;
            if (here >= PUSH1 && here <= PUSH32) i += here - PUSH1 + 1;
        }
    }

    function _deploy() private {
        factory.deploy(localCommitment(address(usdc)));
    }
}
