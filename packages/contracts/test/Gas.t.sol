// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Fixture } from "./support/Fixture.sol";
import { Vm } from "./support/Vm.sol";

/// @notice Writes the gas of each transaction to vectors/gas/GasTest.json. Each call is a separate
/// transaction (cold storage, base cost and calldata included); recipient and fee account already
/// hold the token.
/// forge-config: default.isolate = true
contract GasTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;

    function setUp() public override {
        super.setUp();
        address[4] memory holders = [RECIPIENT, FEES, TREASURY, address(escrow)];
        for (uint256 i; i < holders.length; ++i) {
            usdc.mint(holders[i], 1);
            usdcThere.mint(holders[i], 1);
            vm.deal(holders[i], 1);
        }
        usdcThere.mint(address(delivery), 1000 ether);
    }

    function test_gas_Deploy() public {
        factory.deploy(localCommitment(address(usdc)));
        vm.snapshotGasLastCall("deploy");
        Commitment[] memory list = new Commitment[](50);
        for (uint256 i; i < list.length; ++i) {
            list[i] = localCommitment(address(usdc));
            list[i].userId = bytes32(i + 2);
        }
        factory.deployMany(list);
        vm.snapshotGasLastCall("deployMany of 50");
    }

    function test_gas_SettleTransfer() public {
        IDepositFactory.Job memory job = transferJob(10);
        address wallet = factory.predict(job.c);
        usdc.mint(wallet, AMOUNT);
        settle(job);
        vm.snapshotGasLastCall("settle transfer, wallet missing");
        usdc.mint(wallet, AMOUNT);
        settle(job);
        vm.snapshotGasLastCall("settle transfer, wallet deployed");
        job.data = feeOf(0);
        usdc.mint(wallet, AMOUNT);
        settle(job);
        vm.snapshotGasLastCall("settle transfer without fee, wallet deployed");
    }

    function test_gas_SettleNative() public {
        IDepositFactory.Job memory job = nativeJob();
        address wallet = factory.predict(job.c);
        factory.deploy(job.c);
        vm.deal(wallet, 1 ether);
        settle(job);
        vm.snapshotGasLastCall("settle native, wallet deployed");
    }

    function test_gas_LockDeliverClaim() public {
        factory.deploy(remoteCommitment());
        bytes32 id = lockDeposit(AMOUNT);
        usdc.mint(factory.predict(remoteCommitment()), AMOUNT);
        settle(escrowJob());
        vm.snapshotGasLastCall("settle escrow, wallet deployed, repeated");
        IDelivery.Order memory order = payoutOf(id, 0.999 ether);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        vm.snapshotGasLastCall("deliver, first of its hour");
        order = payoutOf(newestLock, 0.999 ether);
        bytes memory again = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, again);
        vm.snapshotGasLastCall("deliver, repeated");
        signature = signClaim(ATTESTOR_KEY, id, 0.999 ether, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), 0.999 ether, block.timestamp, signature);
        vm.snapshotGasLastCall("claim");
    }

    function test_gas_SettleEscrowFirst() public {
        IDepositFactory.Job memory job = escrowJob();
        factory.deploy(job.c);
        usdc.mint(factory.predict(job.c), AMOUNT);
        settle(job);
        vm.snapshotGasLastCall("settle escrow, wallet deployed, first");
    }

    function test_gas_Refund() public {
        Commitment memory c = remoteCommitment();
        factory.deploy(c);
        usdc.mint(REFUNDEE, 1);
        usdc.mint(factory.predict(c), AMOUNT);
        vm.prank(REFUNDEE);
        factory.refund(c, address(usdc), ALL);
        vm.snapshotGasLastCall("refund");
    }

    function test_gas_RefundBySignature() public {
        Commitment memory c = remoteCommitment();
        address wallet = factory.deploy(c);
        usdc.mint(REFUNDEE, 1);
        usdc.mint(wallet, AMOUNT);
        uint256 deadline = block.timestamp;
        bytes memory signature = signRefund(ATTESTOR_KEY, wallet, address(usdc), AMOUNT, deadline);
        vm.prank(RELAYER);
        factory.refundBySignature(c, address(usdc), AMOUNT, 1, deadline, signature);
        vm.snapshotGasLastCall("refund by signature");
    }

    function test_gas_SettleMany() public {
        _settleMany(1);
        _settleMany(10);
        _settleMany(50);
    }

    /// @dev Deposits of other users, wallets deployed, not the first of anything.
    function test_gas_SwiftInBatches() public {
        _swiftMany(1, "");
        _swiftMany(20, " of 20");
    }

    function _swiftMany(uint256 count, string memory size) private {
        Commitment[] memory list = new Commitment[](count);
        for (uint256 i; i < count; ++i) {
            list[i] = remoteCommitment();
            list[i].userId = bytes32(1000 * count + i);
            list[i].destWallet = word(address(uint160(0xd00000 + 1000 * count + i)));
            usdcThere.mint(address(uint160(0xd00000 + 1000 * count + i)), 1);
        }
        factory.deployMany(list);
        for (uint256 round; round < 2; ++round) {
            bytes32[] memory ids = _lockMany(list);
            if (count > 1 && round == 1) vm.snapshotGasLastCall(string.concat("lockMany", size));
            IDelivery.SignedOrder[] memory orders = new IDelivery.SignedOrder[](count);
            IEscrow.Claim[] memory claims = new IEscrow.Claim[](count);
            for (uint256 i; i < count; ++i) {
                orders[i].order = payoutOf(ids[i], list[i], 0.999 ether);
                orders[i].signatures = signDeliver(ATTESTOR_KEY, orders[i].order);
                uint256 deadline = block.timestamp + 1 hours;
                claims[i] = IEscrow.Claim(
                    lockOf(ids[i]),
                    0.999 ether,
                    deadline,
                    signClaim(ATTESTOR_KEY, ids[i], 0.999 ether, deadline)
                );
            }
            vm.prank(SETTLER);
            delivery.deliverMany(orders, 300_000);
            if (count > 1 && round == 1) {
                vm.snapshotGasLastCall(string.concat("deliverMany", size));
            }
            vm.prank(RELAYER);
            escrow.claimMany(claims, 300_000);
            if (count > 1 && round == 1) vm.snapshotGasLastCall(string.concat("claimMany", size));
        }
    }

    function _lockMany(Commitment[] memory list) private returns (bytes32[] memory ids) {
        IDepositFactory.Job[] memory jobs = new IDepositFactory.Job[](list.length);
        ids = new bytes32[](list.length);
        for (uint256 i; i < list.length; ++i) {
            jobs[i] = escrowJob();
            jobs[i].c = list[i];
            usdc.mint(factory.predict(list[i]), AMOUNT);
        }
        vm.recordLogs();
        vm.prank(RELAYER);
        factory.settleMany(jobs, 300_000);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 count;
        for (uint256 i; i < logs.length; ++i) {
            if (noteLock(logs[i])) ids[count++] = newestLock;
        }
    }

    function _settleMany(uint256 count) private {
        string memory size = count == 1 ? "1" : count == 10 ? "10" : "50";
        IDepositFactory.Job[] memory jobs = new IDepositFactory.Job[](count);
        for (uint256 round; round < 2; ++round) {
            for (uint256 i; i < jobs.length; ++i) {
                jobs[i] = transferJob(10);
                jobs[i].c.userId = bytes32(1000 * count + i);
                usdc.mint(factory.predict(jobs[i].c), AMOUNT);
            }
            vm.prank(RELAYER);
            factory.settleMany(jobs, 200_000);
            vm.snapshotGasLastCall(
                string.concat(
                    "settleMany of ", size, round == 0 ? ", wallets missing" : ", wallets deployed"
                )
            );
        }
    }
}
