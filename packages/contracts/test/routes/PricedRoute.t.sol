// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IAttestedPrice } from "../../src/interfaces/IAttestedPrice.sol";
import { IDepositFactory } from "../../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../../src/interfaces/IEscrow.sol";
import { IEscrowRoute } from "../../src/interfaces/IEscrowRoute.sol";
import { IPricedRoute } from "../../src/interfaces/IPricedRoute.sol";
import { PricedRoute } from "../../src/routes/PricedRoute.sol";
import { Commitment } from "../../src/types/Commitment.sol";
import { Fixture } from "../support/Fixture.sol";

/// @notice USDC here to native coin there, at a price that the attestor signs.
contract PricedRouteTest is Fixture {
    uint256 private constant AMOUNT = 3_000_000_000;
    /// @dev One native coin is 3,000 USDC.
    uint256 private constant RATE = 333_333_333_333_333;

    PricedRoute private _route;
    Commitment private _c;
    address private _wallet;

    function setUp() public override {
        super.setUp();
        IEscrowRoute.Pair memory pair = pairOf(address(usdc));
        pair.destToken = 0;
        _route = new PricedRoute(pair);
        listRoute(address(_route));
        _c = remoteCommitment();
        _c.destToken = 0;
        _wallet = factory.predict(_c);
        usdc.mint(_wallet, AMOUNT);
    }

    function test_deliver_PromisesWhatTheCapsLeaveOfTheFairAmount() public {
        settle(_job(_price(), ATTESTOR_KEY));
        IEscrow.Lock memory held = lockOf(newestLock);
        assertEq(held.amount, AMOUNT, "amount");
        // 3,000 USDC less 1 % slippage and 0.5 % fee.
        assertEq(held.minOut, uint256(AMOUNT) * RATE / 1e6 * 9850 / 10_000, "minimum");
        assertEq(usdc.balanceOf(_wallet), 0, "wallet");
        assertEq(usdc.allowance(_wallet, address(escrow)), 0, "allowance");
    }

    function test_deliver_OneMoreUnitDoesNotVoidThePrice() public {
        IAttestedPrice.Price memory price = _price();
        price.maxAmount = AMOUNT + 1;
        IDepositFactory.Job memory job = _job(price, ATTESTOR_KEY);
        usdc.mint(_wallet, 1);
        settle(job);
        assertEq(lockOf(newestLock).amount, AMOUNT + 1, "all of it");
    }

    function test_deliver_RevertsAboveItsAmount() public {
        IDepositFactory.Job memory job = _job(_price(), ATTESTOR_KEY);
        usdc.mint(_wallet, 1);
        vm.expectRevert(
            abi.encodeWithSelector(IAttestedPrice.AboveMaxAmount.selector, AMOUNT + 1, AMOUNT)
        );
        settle(job);
    }

    function test_deliver_RevertsWhenThePriceIsTooOldOrTooLong() public {
        IAttestedPrice.Price memory price = _price();
        IDepositFactory.Job memory job = _job(price, ATTESTOR_KEY);
        vm.warp(price.deadline + 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAttestedPrice.Expired.selector, price.deadline, price.deadline + 1
            )
        );
        settle(job);
        uint256 latest = block.timestamp + 120;
        price.deadline = latest + 1;
        job = _job(price, ATTESTOR_KEY);
        vm.expectRevert(
            abi.encodeWithSelector(IAttestedPrice.DeadlineTooFar.selector, latest + 1, latest)
        );
        settle(job);
        price.deadline = latest;
        settle(_job(price, ATTESTOR_KEY));
    }

    function test_deliver_RevertsWithoutAnAttestor() public {
        IDepositFactory.Job memory job = _job(_price(), STRANGER_KEY);
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(STRANGER_KEY))
        );
        settle(job);
        job = _job(_price(), ATTESTOR_KEY);
        bytes32 role = factory.ATTESTOR();
        vm.prank(GUARDIAN);
        factory.remove(role, vm.addr(ATTESTOR_KEY));
        vm.expectRevert(
            abi.encodeWithSelector(IDepositFactory.NotAttestor.selector, vm.addr(ATTESTOR_KEY))
        );
        settle(job);
    }

    function test_T71_deliver_ThePriceOfAnotherWalletRouteOrChainIsNone() public {
        IDepositFactory.Job memory job = _job(_price(), ATTESTOR_KEY);
        job.c.userId = bytes32(uint256(77));
        usdc.mint(factory.predict(job.c), AMOUNT);
        _expectNotAttested(job);

        PricedRoute twin = new PricedRoute(_route.pair());
        listRoute(address(twin));
        IAttestedPrice.Price memory price = _price();
        job = _job(price, ATTESTOR_KEY);
        job.route = address(twin);
        _expectNotAttested(job);
    }

    function test_T71_deliver_RevertsAfterAChainSplit() public {
        IDepositFactory.Job memory job = _job(_price(), ATTESTOR_KEY);
        vm.chainId(99);
        vm.expectRevert();
        settle(job);
    }

    function testFuzz_T111_deliver_TheRelayerCannotChangeThePrice(
        uint256 rate,
        uint256 maxAmount,
        uint256 deadline
    ) public {
        IAttestedPrice.Price memory price = _price();
        bytes memory signature = _sign(ATTESTOR_KEY, price);
        vm.assume(rate != price.rate || maxAmount != price.maxAmount || deadline != price.deadline);
        IDepositFactory.Job memory job = _job(price, ATTESTOR_KEY);
        IPricedRoute.RateBounds memory anything = IPricedRoute.RateBounds(0, type(uint256).max);
        job.data = abi.encode(IAttestedPrice.Price(rate, maxAmount, deadline), signature, anything);
        vm.expectRevert();
        settle(job);
        assertEq(usdc.balanceOf(_wallet), AMOUNT, "untouched");
    }

    /// @dev The attestor alone: without the bounds, one deposit would promise a thousand times its
    /// worth from inventory.
    function test_T121_deliver_RevertsWhenTheAttestorSignsAnotherRateThanTheRelayers() public {
        IPricedRoute.RateBounds memory bounds = _bounds();
        uint256[4] memory rates = [RATE * 1000, bounds.max + 1, bounds.min - 1, 1];
        IAttestedPrice.Price memory price = _price();
        for (uint256 i; i < rates.length; ++i) {
            price.rate = rates[i];
            IDepositFactory.Job memory job = _job(price, ATTESTOR_KEY);
            vm.expectRevert(
                abi.encodeWithSelector(
                    IPricedRoute.RateOutOfBounds.selector, rates[i], bounds.min, bounds.max
                )
            );
            settle(job);
        }
        assertEq(usdc.balanceOf(_wallet), AMOUNT, "untouched");
    }

    function test_deliver_AcceptsARateAtEitherBound() public {
        IAttestedPrice.Price memory price = _price();
        price.rate = _bounds().max;
        settle(_job(price, ATTESTOR_KEY));
        assertEq(lockOf(newestLock).minOut, _route.minOut(AMOUNT, price.rate, 100, 50), "highest");
        usdc.mint(_wallet, AMOUNT);
        price.rate = _bounds().min;
        settle(_job(price, ATTESTOR_KEY));
        assertEq(nextSeq(), 2, "lowest");
    }

    function test_deliver_RevertsWhenCapsLeaveNothing() public {
        _c.maxSlippageBps = 9950;
        _wallet = factory.predict(_c);
        usdc.mint(_wallet, AMOUNT);
        IDepositFactory.Job memory job = _job(_price(), ATTESTOR_KEY);
        vm.expectRevert(abi.encodeWithSelector(IEscrowRoute.NothingPromised.selector, AMOUNT, 50));
        settle(job);
    }

    function testFuzz_T142_minOut_IsTheFormula(uint128 amount, uint96 rate, uint16 slip, uint16 fee)
        public
        view
    {
        slip = slip % 10_001;
        fee = fee % 10_001;
        uint256 given = uint256(slip) + fee;
        uint256 expected;
        // 6 decimals in, 18 out, a rate in 18: whole numbers stay below 2^256.
        if (given < 10_000) {
            uint256 fair = uint256(amount) * rate / 1e6;
            // The share that may be lost, rounded down.
            expected = fair - (fair / 10_000 * given + fair % 10_000 * given / 10_000);
        }
        assertEq(_route.minOut(amount, rate, slip, fee), expected, "minimum");
    }

    function _expectNotAttested(IDepositFactory.Job memory job) private {
        vm.expectRevert();
        settle(job);
        assertEq(nextSeq(), 0, "nothing is locked");
    }

    function _price() private view returns (IAttestedPrice.Price memory) {
        return IAttestedPrice.Price(RATE, AMOUNT, block.timestamp + 60);
    }

    function _job(IAttestedPrice.Price memory price, uint256 key)
        private
        view
        returns (IDepositFactory.Job memory)
    {
        return IDepositFactory.Job({
            c: _c,
            token: address(usdc),
            maxAmount: 0,
            route: address(_route),
            data: abi.encode(price, _sign(key, price), _bounds()),
            proof: noProof()
        });
    }

    /// @dev 2 % around the relayer's own rate.
    function _bounds() private pure returns (IPricedRoute.RateBounds memory) {
        return IPricedRoute.RateBounds(RATE * 98 / 100, RATE * 102 / 100);
    }

    function _sign(uint256 key, IAttestedPrice.Price memory price)
        private
        view
        returns (bytes memory)
    {
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256(
                    "Price(address factory,address wallet,address token,uint256 rate,uint256 maxAmount,uint256 deadline)"
                ),
                address(factory),
                _wallet,
                address(usdc),
                price.rate,
                price.maxAmount,
                price.deadline
            )
        );
        return signTyped(key, _route.domainSeparator(), structHash);
    }
}
