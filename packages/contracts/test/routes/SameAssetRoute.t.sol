// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../../src/interfaces/IEscrow.sol";
import { IEscrowRoute } from "../../src/interfaces/IEscrowRoute.sol";
import { IRoute } from "../../src/interfaces/IRoute.sol";
import { SameAssetRoute } from "../../src/routes/SameAssetRoute.sol";
import { StickyAllowanceToken } from "../doubles/Doubles.sol";
import { Fixture } from "../support/Fixture.sol";

/// @notice Locks in the escrow, with the promised minimum.
contract SameAssetRouteTest is Fixture {
    function test_pair_IsWhatWasBuiltIn() public view {
        assertEq(
            keccak256(abi.encode(escrowRoute.pair())),
            keccak256(abi.encode(pairOf(address(usdc)))),
            "pair"
        );
    }

    function test_constructor_RevertsWhenPairCannotWork() public {
        IEscrowRoute.Pair memory pair = pairOf(address(usdc));
        pair.escrow = address(0);
        _expectInvalid(pair);
        pair = pairOf(address(usdc));
        pair.delivery = 0;
        _expectInvalid(pair);
        pair = pairOf(address(usdc));
        pair.sourceDecimals = 37;
        _expectInvalid(pair);
        pair = pairOf(address(usdc));
        pair.destDecimals = 37;
        _expectInvalid(pair);
        pair = pairOf(address(usdc));
        pair.sourceChain = HERE + 1;
        _expectInvalid(pair);
        pair = pairOf(address(usdc));
        pair.destChain = HERE;
        _expectInvalid(pair);
        pair = pairOf(address(usdc));
        pair.evmChainId += 1;
        _expectInvalid(pair);
    }

    function test_deliver_LocksTheWholeBalanceAndLeavesNoAllowance() public {
        bytes32 id = lockDeposit(1_000_000);
        IEscrow.Lock memory held = lockOf(id);
        assertEq(held.amount, 1_000_000, "amount");
        assertEq(held.minOut, 0.995 ether, "minimum, in the destination's decimals");
        assertEq(held.delivery, word(address(delivery)), "delivery");
        address wallet = factory.predict(remoteCommitment());
        assertEq(usdc.balanceOf(address(escrow)), 1_000_000, "escrow");
        assertEq(usdc.allowance(wallet, address(escrow)), 0, "allowance");
    }

    function test_deliver_ResetsAnAllowanceThatTheTokenDoesNotUseUp() public {
        StickyAllowanceToken token = new StickyAllowanceToken();
        SameAssetRoute route = new SameAssetRoute(pairOf(address(token)));
        listRoute(address(route));
        IDepositFactory.Job memory job = escrowJob();
        job.token = address(token);
        job.route = address(route);
        address wallet = factory.predict(job.c);
        token.mint(wallet, 100);
        settle(job);
        assertEq(token.allowance(wallet, address(escrow)), 0, "allowance");
    }

    function test_deliver_RevertsWhenNothingWouldBePromised() public {
        IDepositFactory.Job memory job = escrowJob();
        job.c.maxFeeBps = 10_000;
        _expect(job, abi.encodeWithSelector(IEscrowRoute.NothingPromised.selector, 100, 10_000));
        job.c.maxFeeBps = type(uint16).max;
        _expect(job, abi.encodeWithSelector(IEscrowRoute.NothingPromised.selector, 100, 65_535));
    }

    function test_deliver_RevertsWhenDataIsNotEmpty() public {
        IDepositFactory.Job memory job = escrowJob();
        job.data = hex"00";
        _expect(job, abi.encodeWithSelector(IRoute.InvalidData.selector, 1));
    }

    function test_deliver_RevertsWhenDestinationIsAnotherChain() public {
        IDepositFactory.Job memory job = escrowJob();
        job.c.destChain = HERE;
        _expect(job, abi.encodeWithSelector(IRoute.WrongDestChain.selector, HERE, THERE));
    }

    function test_deliver_RevertsWhenDestinationTokenDiffers() public {
        IDepositFactory.Job memory job = escrowJob();
        job.c.destToken = word(address(usdc));
        _expect(
            job,
            abi.encodeWithSelector(
                IRoute.WrongDestToken.selector, job.c.destToken, word(address(usdcThere))
            )
        );
    }

    function test_deliver_RevertsWhenTokenDiffers() public {
        IDepositFactory.Job memory job = escrowJob();
        job.token = address(usdcThere);
        usdcThere.mint(factory.predict(job.c), 1);
        _expect(job, abi.encodeWithSelector(IRoute.WrongToken.selector, usdcThere, address(usdc)));
    }

    function test_deliver_RevertsWhenChainSplits() public {
        uint256 home = block.chainid;
        vm.chainId(99);
        _expect(escrowJob(), abi.encodeWithSelector(IRoute.WrongEvmChain.selector, 99, home));
    }

    function testFuzz_T142_minOut_LeavesNoFeeAboveTheCap(
        uint128 amount,
        uint16 maxFeeBps,
        uint8 sourceDecimals,
        uint8 destDecimals
    ) public {
        IEscrowRoute.Pair memory pair = pairOf(address(usdc));
        pair.sourceDecimals = sourceDecimals % 19;
        pair.destDecimals = destDecimals % 19;
        uint256 minOut = new SameAssetRoute(pair).minOut(amount, maxFeeBps);
        if (maxFeeBps >= 10_000) return assertEq(minOut, 0, "nothing promised");
        uint256 scaledIn = uint256(amount) * 10 ** uint256(pair.destDecimals);
        uint256 scale = 10 ** uint256(pair.sourceDecimals);
        uint256 kept = scaledIn * (10_000 - maxFeeBps);
        uint256 worth = scaledIn / scale;
        if (minOut == worth) {
            return assertTrue(minOut * 10_000 * scale < kept + 10_000 * scale, "");
        }
        assertTrue(minOut < worth, "never more than the deposit is worth");
        assertTrue(minOut * 10_000 * scale >= kept, "no less than the cap leaves");
        assertTrue(minOut * 10_000 * scale < kept + 10_000 * scale, "by less than one unit");
    }

    /// @dev The fee of a deposit of 1,001 base units under a cap of 50 basis points is 5, not 6.
    function test_T142_minOut_IsRoundedUp() public {
        IEscrowRoute.Pair memory pair = pairOf(address(usdc));
        (pair.sourceDecimals, pair.destDecimals) = (6, 6);
        assertEq(new SameAssetRoute(pair).minOut(1001, 50), 996, "equal units");
        (pair.sourceDecimals, pair.destDecimals) = (18, 6);
        SameAssetRoute coarse = new SameAssetRoute(pair);
        assertEq(coarse.minOut(1001.9e12, 50), 997, "coarser units");
        assertEq(coarse.minOut(1001.9e12, 0), 1001, "no more than its units express");
        assertEq(coarse.minOut(0.9e12, 0), 0, "nothing for dust");
    }

    function _expect(IDepositFactory.Job memory job, bytes memory reason) private {
        usdc.mint(factory.predict(job.c), 100);
        vm.expectRevert(reason);
        settle(job);
    }

    function _expectInvalid(IEscrowRoute.Pair memory pair) private {
        vm.expectRevert(abi.encodeWithSelector(IRoute.InvalidConfig.selector));
        new SameAssetRoute(pair);
    }
}
