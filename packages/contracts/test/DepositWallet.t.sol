// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositWallet } from "../src/interfaces/IDepositWallet.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { BoundedCall } from "../src/types/BoundedCall.sol";
import { Plan } from "../src/types/Plan.sol";
import { OldSender, Refuser, TakesLess } from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";

/// @notice The code of a deposit address: its bytes, the calls it accepts, and its only caller.
contract DepositWalletTest is Fixture {
    uint8 private constant PUSH0 = 0x5f;
    uint8 private constant PUSH1 = 0x60;
    uint8 private constant PUSH32 = 0x7f;
    uint8 private constant CALLCODE = 0xf2;
    uint8 private constant DELEGATECALL = 0xf4;
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

    function test_execute_RevertsWhenCallerIsNotTheFactory() public {
        _deploy();
        usdc.mint(address(_wallet), 1);
        Plan memory plan = _to(STRANGER, 0);
        Commitment memory c = localCommitment(address(usdc));
        address[3] memory callers = [RELAYER, address(transferRoute), OWNER];
        for (uint256 i; i < callers.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IDepositWallet.NotFactory.selector, callers[i]));
            vm.prank(callers[i]);
            _wallet.execute(c, address(usdc), 1, plan);
        }
    }

    function test_refund_RevertsWhenCallerIsNotTheFactory() public {
        _deploy();
        vm.expectRevert(abi.encodeWithSelector(IDepositWallet.NotFactory.selector, REFUNDEE));
        vm.prank(REFUNDEE);
        _wallet.refund(address(usdc), ALL, REFUNDEE, false);
    }

    function test_execute_PaysTheFeeAndTheRest() public {
        _deploy();
        Plan memory plan = _to(RECIPIENT, 990);
        (plan.fee, plan.feeRecipient) = (10, FEES);
        usdc.mint(address(_wallet), 1000);
        assertEq(_execute(address(usdc), 1000, plan), 990, "received");
        assertEq(usdc.balanceOf(FEES), 10, "fee");
        assertEq(usdc.balanceOf(RECIPIENT), 990, "recipient");
        vm.deal(address(_wallet), 1000);
        assertEq(_execute(NATIVE, 1000, plan), 990, "received");
        assertEq(FEES.balance, 10, "fee");
        assertEq(RECIPIENT.balance, 990, "recipient");
    }

    function test_execute_RevertsWhenLessArrivesThanPlanned() public {
        _deploy();
        usdc.mint(address(_wallet), 1000);
        vm.expectRevert(abi.encodeWithSelector(IDepositWallet.ReceivedLess.selector, 1000, 1001));
        _execute(address(usdc), 1000, _to(RECIPIENT, 1001));
        vm.expectRevert(abi.encodeWithSelector(IDepositWallet.ReceivedLess.selector, 0, 1));
        _execute(address(usdc), 1000, _to(address(_wallet), 1));
    }

    function test_execute_RevertsWhenARecipientRefuses() public {
        _deploy();
        vm.deal(address(_wallet), 1000);
        address refuser = address(new Refuser());
        bytes memory reason = abi.encodeWithSelector(BoundedCall.RecipientRefused.selector, refuser);
        vm.expectRevert(reason);
        _execute(NATIVE, 1000, _to(refuser, 0));
        Plan memory plan = _to(RECIPIENT, 0);
        (plan.fee, plan.feeRecipient) = (10, refuser);
        vm.expectRevert(reason);
        _execute(NATIVE, 1000, plan);
    }

    /// @dev A route that names anything else than the escrow for a lock: no code, or another contract.
    function test_execute_ALockLeavesNoAllowanceToAnybody() public {
        _deploy();
        Plan memory plan = _to(STRANGER, 0);
        plan.promised = 1;
        usdc.mint(address(_wallet), 1000);
        vm.expectRevert();
        _execute(address(usdc), 1000, plan);
        plan.to = address(new TakesLess());
        assertEq(_execute(address(usdc), 1000, plan), 1000, "given");
        assertEq(usdc.balanceOf(plan.to), 999, "one less was taken");
        assertEq(usdc.allowance(address(_wallet), plan.to), 0, "allowance");
    }

    function test_execute_NeverPaysMoreThanIsThere() public {
        _deploy();
        Plan memory plan = _to(RECIPIENT, 0);
        (plan.fee, plan.feeRecipient) = (1001, FEES);
        usdc.mint(address(_wallet), 2000);
        vm.expectRevert();
        _execute(address(usdc), 1000, plan);
    }

    function testFuzz_call_RevertsWhenCallerIsNotTheFactory(address caller, bytes calldata data)
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

    function _to(address to, uint256 least) private pure returns (Plan memory plan) {
        (plan.to, plan.least) = (to, least);
    }

    function _execute(address token, uint256 amount, Plan memory plan) private returns (uint256) {
        vm.prank(address(factory));
        return _wallet.execute(localCommitment(address(usdc)), token, amount, plan);
    }

    function _checkOpcodes(bytes memory code) private pure {
        assertTrue(code.length > 0, "has code");
        assertEq(_count(code, PUSH0), 0, "PUSH0");
        assertEq(_count(code, SELFDESTRUCT), 0, "SELFDESTRUCT");
        assertEq(_count(code, CALLCODE), 0, "CALLCODE");
        // Only the proxy of a wallet delegates, to the one implementation in its bytes.
        if (code.length != 51) assertEq(_count(code, DELEGATECALL), 0, "DELEGATECALL");
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
