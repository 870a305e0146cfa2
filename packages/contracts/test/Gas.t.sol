// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Fixture } from "./support/Fixture.sol";

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
        IDelivery.Order memory order = orderOf(0, 0.999 ether);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
        vm.snapshotGasLastCall("deliver, first of its hour");
        order = orderOf(1, 0.999 ether);
        bytes memory again = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, again);
        vm.snapshotGasLastCall("deliver, repeated");
        signature = signClaim(ATTESTOR_KEY, id, 0.999 ether, block.timestamp);
        vm.prank(RELAYER);
        escrow.claim(id, 0.999 ether, block.timestamp, signature);
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
        factory.refund(c, address(usdc));
        vm.snapshotGasLastCall("refund");
    }

    function test_gas_SettleMany() public {
        _settleMany(1);
        _settleMany(10);
        _settleMany(50);
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
