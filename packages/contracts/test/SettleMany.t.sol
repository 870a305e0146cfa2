// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { DepositFactory } from "../src/DepositFactory.sol";
import { IChargedRoute } from "../src/interfaces/IChargedRoute.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IGoverned } from "../src/interfaces/IGoverned.sol";
import {
    AnyTokenRoute,
    GasGuzzler,
    RelayerProbe,
    ReturnBombToken,
    ForgivingMerchant
} from "./doubles/Doubles.sol";
import { Fixture } from "./support/Fixture.sol";
import { Vm } from "./support/Vm.sol";

/// @notice Batches: a bad job affects no other, and no job can be starved of gas.
contract SettleManyTest is Fixture {
    uint256 private constant GAS_PER_JOB = 300_000;

    function test_settleMany_SettlesEach() public {
        IDepositFactory.Job[] memory jobs = _jobs(3);
        assertEq(_settleMany(jobs, GAS_PER_JOB), 3, "done");
        assertEq(usdc.balanceOf(RECIPIENT), 300, "recipient");
    }

    function test_settleMany_OneFailingJobDoesNotUndoTheOthers() public {
        IDepositFactory.Job[] memory jobs = _jobs(4);
        jobs[1].data = feeOf(100);
        jobs[2].route = STRANGER;
        address wallet1 = factory.predict(jobs[1].c);
        address wallet2 = factory.predict(jobs[2].c);
        vm.expectEmit(address(factory));
        emit IDepositFactory.JobFailed(
            1, wallet1, abi.encodeWithSelector(IChargedRoute.FeeAboveCap.selector, 1, 0)
        );
        vm.expectEmit(address(factory));
        emit IDepositFactory.JobFailed(
            2, wallet2, abi.encodeWithSelector(IDepositFactory.NotRoute.selector, STRANGER)
        );
        assertEq(_settleMany(jobs, GAS_PER_JOB), 2, "done");
        assertEq(usdc.balanceOf(RECIPIENT), 200, "recipient");
        assertEq(usdc.balanceOf(wallet1) + usdc.balanceOf(wallet2), 200, "kept");
        assertEq(wallet1.code.length, 0, "the failed job left nothing behind");
    }

    function test_settleMany_SameWalletTwiceFailsTheSecondTime() public {
        IDepositFactory.Job[] memory jobs = _jobs(2);
        jobs[1] = jobs[0];
        address wallet = factory.predict(jobs[0].c);
        vm.expectEmit(address(factory));
        emit IDepositFactory.JobFailed(
            1, wallet, abi.encodeWithSelector(IDepositFactory.Nothing.selector, wallet, usdc)
        );
        assertEq(_settleMany(jobs, GAS_PER_JOB), 1, "done");
    }

    function test_settleMany_GuzzlingRecipientCostsOnlyItsShare() public {
        IDepositFactory.Job[] memory jobs = _jobs(3);
        jobs[0] = nativeJob();
        jobs[0].c.destWallet = word(address(new GasGuzzler()));
        vm.deal(factory.predict(jobs[0].c), 1 ether);
        uint256 before = gasleft();
        assertEq(_settleMany(jobs, GAS_PER_JOB), 2, "done");
        assertTrue(before - gasleft() < 3 * GAS_PER_JOB, "gas");
        assertEq(usdc.balanceOf(RECIPIENT), 200, "recipient");
    }

    function test_settleMany_HugeRevertReasonIsCut() public {
        AnyTokenRoute route = new AnyTokenRoute();
        listRoute(address(route));
        IDepositFactory.Job[] memory jobs = _jobs(2);
        address bomb = address(new ReturnBombToken());
        jobs[0] = IDepositFactory.Job(localCommitment(bomb), bomb, 0, address(route), "", noProof());
        vm.recordLogs();
        assertEq(_settleMany(jobs, 30_000_000), 1, "done");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 found;
        for (uint256 i; i < logs.length; ++i) {
            if (logs[i].topics[0] != IDepositFactory.JobFailed.selector) continue;
            (, bytes memory reason) = abi.decode(logs[i].data, (uint256, bytes));
            assertEq(reason.length, 256, "reason");
            ++found;
        }
        assertEq(found, 1, "failed jobs");
    }

    function test_settleMany_RevertsWhenGasDoesNotCoverEveryJob() public {
        IDepositFactory.Job[] memory jobs = _jobs(2);
        bytes memory call = abi.encodeCall(factory.settleMany, (jobs, GAS_PER_JOB));
        (bool ok, bytes memory reason) = _callAsRelayer(call, GAS_PER_JOB + 50_000);
        assertTrue(!ok, "reverts");
        assertEq(
            bytes32(bytes4(reason)), bytes32(IDepositFactory.NeedGas.selector), "for lack of gas"
        );
        assertEq(usdc.balanceOf(RECIPIENT), 0, "nothing settled");
    }

    /// @dev Gas estimation looks for the least gas that does not revert; all jobs must settle
    /// with it.
    function testFuzz_settleMany_GasThatDoesNotRevertSettlesEveryJob(uint256 gasLimit) public {
        gasLimit = bound(gasLimit, 100_000, 1_500_000);
        IDepositFactory.Job[] memory jobs = _jobs(3);
        bytes memory call = abi.encodeCall(factory.settleMany, (jobs, GAS_PER_JOB));
        (bool ok, bytes memory result) = _callAsRelayer(call, gasLimit);
        if (ok) assertEq(abi.decode(result, (uint256)), 3, "done");
        else assertEq(usdc.balanceOf(RECIPIENT), 0, "nothing settled");
    }

    /// @dev The least `gasPerJob` that settles the job with ample gas must settle it under every gas
    /// limit that does not revert: the job gets all the gas required for it. The job is long: with
    /// a short one, the 1/64 that stays behind could not pay for the event of a failure, and the
    /// batch would revert by itself.
    function test_settleMany_AJobGetsAllTheGasDemandedForIt() public {
        RelayerProbe probe = new RelayerProbe(factory);
        vm.prank(OWNER);
        factory.setRelayer(address(probe), true);
        IDepositFactory.Job[] memory jobs = new IDepositFactory.Job[](1);
        jobs[0] = nativeJob();
        jobs[0].c.destWallet = word(address(new ForgivingMerchant()));
        vm.deal(factory.predict(jobs[0].c), 1 ether);
        (uint256 low, uint256 high) = (50_000, 5_000_000);
        while (high - low > 1) {
            uint256 middle = (low + high) / 2;
            (bool ok, uint256 done) = probe.trial(jobs, middle, 20_000_000);
            assertTrue(ok, "gas in plenty");
            if (done == 1) high = middle;
            else low = middle;
        }
        uint256 succeeded;
        for (uint256 limit = high; limit < high + 150_000; limit += 503) {
            (bool ok, uint256 done) = probe.trial(jobs, high, limit);
            if (!ok) continue;
            assertEq(done, 1, "settled");
            ++succeeded;
        }
        assertTrue(succeeded > 100, "some limits suffice");
    }

    function test_settleMany_RevertsWhenNotSealed() public {
        DepositFactory fresh = new DepositFactory(OWNER, GUARDIAN, DELAY);
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotSealed.selector));
        fresh.settleMany(new IDepositFactory.Job[](0), GAS_PER_JOB);
    }

    function test_settleMany_RevertsWhenPaused() public {
        vm.prank(GUARDIAN);
        factory.pause();
        vm.expectRevert(abi.encodeWithSelector(IGoverned.IsPaused.selector));
        vm.prank(RELAYER);
        factory.settleMany(new IDepositFactory.Job[](0), GAS_PER_JOB);
    }

    function test_settleMany_RevertsWhenCallerIsNotRelayer() public {
        vm.expectRevert(abi.encodeWithSelector(IDepositFactory.NotRelayer.selector, STRANGER));
        vm.prank(STRANGER);
        factory.settleMany(new IDepositFactory.Job[](0), GAS_PER_JOB);
    }

    function _jobs(uint256 count) private returns (IDepositFactory.Job[] memory jobs) {
        jobs = new IDepositFactory.Job[](count);
        for (uint256 i; i < count; ++i) {
            jobs[i] = transferJob(0);
            jobs[i].c.userId = bytes32(i);
            usdc.mint(factory.predict(jobs[i].c), 100);
        }
    }

    function _settleMany(IDepositFactory.Job[] memory jobs, uint256 gasPerJob)
        private
        returns (uint256)
    {
        vm.prank(RELAYER);
        return factory.settleMany(jobs, gasPerJob);
    }

    function _callAsRelayer(bytes memory call, uint256 gasLimit)
        private
        returns (bool, bytes memory)
    {
        vm.prank(RELAYER);
        return address(factory).call{ gas: gasLimit }(call);
    }
}
