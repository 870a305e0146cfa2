// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IUniswapSwap } from "../interfaces/IUniswapSwap.sol";
import { ISwapRouter02 } from "../interfaces/external/ISwapRouter02.sol";
import { Allowance } from "../types/Allowance.sol";
import { Commitment } from "../types/Commitment.sol";
import { RouteFee } from "../types/RouteFee.sol";
import { AttestedPrice } from "./AttestedPrice.sol";
import { ChargedRoute } from "./ChargedRoute.sol";

/// @title Base of the routes that swap in Uniswap v3: one pool, one direction
/// @notice Trust: the attestor for the price, within the committed slippage. The relayer chooses among
/// attested prices, and the fee within the committed cap. The pool and its traders are not
/// trusted. A relayer and an attestor together can swap at any price, to the gain of a trader in the
/// pool; the output still goes to the committed wallet.
abstract contract UniswapSwap is IUniswapSwap, ChargedRoute, AttestedPrice {
    /// @dev Configuration of an instance; a zero token is the native coin.
    struct Pool {
        address router;
        address weth;
        address tokenIn;
        uint8 decimalsIn;
        address tokenOut;
        uint8 decimalsOut;
        uint24 fee;
    }

    /// @dev The relayer's choice.
    struct Order {
        Price price;
        bytes signature;
        RouteFee fee;
        uint256 minOut;
        uint256 deadline;
    }

    /// @dev The result.
    struct Fill {
        uint256 charged;
        uint256 amountIn;
        uint256 amountOut;
    }

    uint256 internal constant BPS = 10_000;
    uint256 private constant SWAP_LIFETIME = 10 minutes;

    /// @dev Meaning of these two recipients to the router.
    address private constant THE_CALLER = address(1);
    address private constant THE_ROUTER = address(2);

    /// @dev Far above any real token, and small enough that the powers of ten cannot overflow.
    uint8 private constant DECIMALS_MAX = 36;

    address internal immutable ROUTER;
    address internal immutable WETH;
    address internal immutable TOKEN_IN;
    uint8 internal immutable DECIMALS_IN;
    address internal immutable TOKEN_OUT;
    uint8 internal immutable DECIMALS_OUT;
    uint24 internal immutable POOL_FEE;

    constructor(address factory_, Pool memory pool) AttestedPrice(factory_) {
        if (pool.decimalsIn > DECIMALS_MAX || pool.decimalsOut > DECIMALS_MAX) {
            revert InvalidConfig();
        }
        if (pool.weth == address(0) || ISwapRouter02(pool.router).WETH9() != pool.weth) {
            revert InvalidConfig();
        }
        ROUTER = pool.router;
        WETH = pool.weth;
        TOKEN_IN = pool.tokenIn;
        DECIMALS_IN = pool.decimalsIn;
        TOKEN_OUT = pool.tokenOut;
        DECIMALS_OUT = pool.decimalsOut;
        POOL_FEE = pool.fee;
        if (_wrapped(pool.tokenIn) == _wrapped(pool.tokenOut)) revert InvalidConfig();
    }

    /// @inheritdoc IUniswapSwap
    function minOut(uint256 amountIn, uint256 rate, uint16 maxSlippageBps)
        public
        view
        returns (uint256)
    {
        if (maxSlippageBps >= BPS) return 0;
        uint256 fair = _fair(amountIn, rate, DECIMALS_IN, DECIMALS_OUT);
        return Math.mulDiv(fair, BPS - maxSlippageBps, BPS);
    }

    /// @dev Runs in the wallet: takes the fee, and swaps the remainder to `to`.
    function _swap(Commitment calldata c, uint256 amount, Order memory order, address to)
        internal
        returns (Fill memory fill)
    {
        // A swap would go to somebody else, and coin permanently to a precompile of the chain.
        if (to == THE_CALLER || to == THE_ROUTER) revert SpecialRecipient(to);
        // The router has no deadline of its own.
        _checkDeadline(order.deadline, SWAP_LIFETIME);
        _checkPrice(TOKEN_IN, amount, order.price, order.signature);
        fill.charged = _charge(c, TOKEN_IN, amount, order.fee, 0);
        fill.amountIn = amount - fill.charged;
        uint256 amountOutMin = minOut(fill.amountIn, order.price.rate, c.maxSlippageBps);
        // Also refuses an amount of zero, which the router would take for its whole balance.
        if (amountOutMin == 0) revert NoMinimum(fill.amountIn, c.maxSlippageBps);
        amountOutMin = Math.max(amountOutMin, order.minOut);

        uint256 balanceBefore = _balanceOf(TOKEN_OUT, to);
        _trade(fill.amountIn, amountOutMin, to);
        uint256 balance = _balanceOf(TOKEN_OUT, to);
        // A balance that did not rise has received nothing.
        fill.amountOut = balance > balanceBefore ? balance - balanceBefore : 0;
        if (fill.amountOut < amountOutMin) revert ReceivedLess(fill.amountOut, amountOutMin);
        emit Swapped(
            address(this), to, TOKEN_IN, TOKEN_OUT, fill.amountIn, fill.amountOut, fill.charged
        );
    }

    /// @dev The router wraps the value sent and, if the output is native coin, receives it to unwrap it.
    function _trade(uint256 amountIn, uint256 amountOutMin, address to) private {
        ISwapRouter02.ExactInputSingleParams memory params = ISwapRouter02.ExactInputSingleParams({
            tokenIn: _wrapped(TOKEN_IN),
            tokenOut: _wrapped(TOKEN_OUT),
            fee: POOL_FEE,
            recipient: TOKEN_OUT == address(0) ? THE_ROUTER : to,
            amountIn: amountIn,
            amountOutMinimum: amountOutMin,
            sqrtPriceLimitX96: 0
        });
        if (TOKEN_IN == address(0)) {
            // The router keeps coin that a pool does not take, for anybody to withdraw. It may
            // hold some already.
            uint256 balanceBefore = ROUTER.balance;
            ISwapRouter02(ROUTER).exactInputSingle{ value: amountIn }(params);
            if (ROUTER.balance > balanceBefore) revert NotSpent(ROUTER.balance - balanceBefore);
        } else {
            Allowance.grant(TOKEN_IN, ROUTER, amountIn);
            ISwapRouter02(ROUTER).exactInputSingle(params);
            Allowance.end(TOKEN_IN, ROUTER);
        }
        if (TOKEN_OUT == address(0)) ISwapRouter02(ROUTER).unwrapWETH9(amountOutMin, to);
    }

    function _wrapped(address token) private view returns (address) {
        return token == address(0) ? WETH : token;
    }
}
