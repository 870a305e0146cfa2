// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { DailyCaps } from "../DailyCaps.sol";
import { IGoverned } from "../interfaces/IGoverned.sol";
import { IUniswapSwap } from "../interfaces/IUniswapSwap.sol";
import { ISwapRouter02 } from "../interfaces/external/ISwapRouter02.sol";
import { IUniswapV3Factory } from "../interfaces/external/IUniswapV3.sol";
import { Allowance } from "../types/Allowance.sol";
import { BoundedCall } from "../types/BoundedCall.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { PoolPrice } from "../types/PoolPrice.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";
import { AttestedPrice } from "./AttestedPrice.sol";
import { ChargedRoute } from "./ChargedRoute.sol";

/// @title Base of the routes that swap in Uniswap v3: one pool, one direction
/// @notice Trust: the attestors for the price, within the committed slippage. The relayer chooses among
/// attested prices, and the fee within the committed cap. The pool and its traders are not
/// trusted. A relayer and the attestors together can swap at a price below the pool's averaged one by
/// `toleranceBps`, to the gain of a trader in the pool, and up to the daily cap; if they also hold the
/// pool's price away for the whole window, at any price, up to the daily cap. The output still goes to
/// the committed wallet.
abstract contract UniswapSwap is IUniswapSwap, ChargedRoute, AttestedPrice, DailyCaps {
    using RouteFeeLib for RouteFee;

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
        bytes signatures;
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
    address private immutable POOL;
    bool private immutable IN_IS_TOKEN0;
    uint32 private immutable WINDOW;
    uint16 private immutable TOLERANCE_BPS;
    uint112 private immutable FIRST_CAP;

    constructor(address factory_, Pool memory pool, Limits memory limits) AttestedPrice(factory_) {
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
        address tokenIn = _wrapped(pool.tokenIn);
        address tokenOut = _wrapped(pool.tokenOut);
        if (tokenIn == tokenOut) revert InvalidConfig();
        if (limits.window == 0 || limits.toleranceBps >= BPS) revert InvalidConfig();
        POOL = IUniswapV3Factory(ISwapRouter02(pool.router).factory())
            .getPool(tokenIn, tokenOut, pool.fee);
        if (POOL == address(0)) revert InvalidConfig();
        IN_IS_TOKEN0 = tokenIn < tokenOut;
        WINDOW = limits.window;
        TOLERANCE_BPS = limits.toleranceBps;
        FIRST_CAP = limits.perDay;
        _setCap(pool.tokenIn, limits.perDay);
    }

    /// @dev Coin that a wallet pays, or that the router unwraps.
    receive() external payable { }

    /// @inheritdoc IUniswapSwap
    function bandMinOut(uint256 amountIn) public view returns (uint256) {
        int256 tick = PoolPrice.meanTick(POOL, WINDOW);
        uint256 value = PoolPrice.valueAt(tick, amountIn, IN_IS_TOKEN0);
        return Math.mulDiv(value, BPS - TOLERANCE_BPS, BPS);
    }

    /// @inheritdoc IUniswapSwap
    function minOut(uint256 amountIn, uint256 rate, uint16 maxSlippageBps)
        public
        view
        returns (uint256)
    {
        if (maxSlippageBps >= BPS) return 0;
        uint256 fair = _fair(amountIn, rate, DECIMALS_IN, DECIMALS_OUT);
        return Math.mulDiv(fair, BPS - maxSlippageBps, BPS, Math.Rounding.Ceil);
    }

    /// @dev Checks what the relayer sent, and returns the plan that pays the input to this route.
    /// @param to The recipient of the output.
    function _planSwap(
        Commitment calldata c,
        address wallet,
        uint256 amount,
        Order memory order,
        address to
    ) internal view returns (Plan memory) {
        // A swap would go to somebody else, and coin permanently to a precompile of the chain.
        if (to == THE_CALLER || to == THE_ROUTER) revert SpecialRecipient(to);
        // The router has no deadline of its own.
        _checkDeadline(order.deadline, SWAP_LIFETIME);
        _checkPrice(wallet, TOKEN_IN, amount, order.price, order.signatures);
        uint256 charged = _charge(c, amount, order.fee, 0);
        return _payment(address(this), charged, amount - charged);
    }

    /// @dev Swaps what the wallet paid to this route, to `to`.
    function _swap(
        Commitment calldata c,
        address wallet,
        uint256 amount,
        Order memory order,
        address to
    ) internal returns (Fill memory fill) {
        fill.charged = order.fee.amountOf(amount);
        fill.amountIn = amount - fill.charged;
        uint256 amountOutMin = minOut(fill.amountIn, order.price.rate, c.maxSlippageBps);
        // Also refuses an amount of zero, which the router would take for its whole balance.
        if (amountOutMin == 0) revert NoMinimum(fill.amountIn, c.maxSlippageBps);
        _spendCap(TOKEN_IN, fill.amountIn);
        // The pool's own history bounds the price, whatever was signed.
        amountOutMin = Math.max(amountOutMin, bandMinOut(fill.amountIn));
        amountOutMin = Math.max(amountOutMin, order.minOut);

        // Coin comes here first, so that a recipient that passes it on is paid like any other.
        address receiver = TOKEN_OUT == address(0) ? address(this) : to;
        uint256 balanceBefore = _balanceOf(TOKEN_OUT, receiver);
        if (TOKEN_IN == address(0)) _tradeCoin(fill.amountIn, amountOutMin, receiver);
        else _tradeToken(fill.amountIn, amountOutMin, receiver);
        uint256 balance = _balanceOf(TOKEN_OUT, receiver);
        // A balance that did not rise has received nothing.
        fill.amountOut = balance > balanceBefore ? balance - balanceBefore : 0;
        if (fill.amountOut < amountOutMin) revert ReceivedLess(fill.amountOut, amountOutMin);
        if (TOKEN_OUT == address(0)) BoundedCall.pay(to, fill.amountOut);
        emit Swapped(wallet, to, TOKEN_IN, TOKEN_OUT, fill.amountIn, fill.amountOut, fill.charged);
    }

    function _limits() internal view returns (Limits memory) {
        return Limits({ window: WINDOW, toleranceBps: TOLERANCE_BPS, perDay: FIRST_CAP });
    }

    /// @dev The factory's owner, guardian and delay rule the daily cap.
    function _capPowers() internal view override returns (CapPowers memory) {
        IGoverned governed = IGoverned(factory());
        return CapPowers({
            owner: governed.owner(), guardian: governed.guardian(), delay: governed.delay()
        });
    }

    /// @dev The router wraps the value sent.
    function _tradeCoin(uint256 amountIn, uint256 amountOutMin, address to) private {
        // The router keeps coin that a pool does not take, for anybody to withdraw. It may hold some
        // already.
        uint256 balanceBefore = ROUTER.balance;
        ISwapRouter02(ROUTER).exactInputSingle{ value: amountIn }(
            _params(amountIn, amountOutMin, to)
        );
        if (ROUTER.balance > balanceBefore) revert NotSpent(ROUTER.balance - balanceBefore);
    }

    /// @dev The router receives native coin itself, to unwrap it.
    function _tradeToken(uint256 amountIn, uint256 amountOutMin, address to) private {
        uint256 balanceBefore = IERC20(TOKEN_IN).balanceOf(address(this));
        Allowance.grant(TOKEN_IN, ROUTER, amountIn);
        ISwapRouter02(ROUTER)
            .exactInputSingle(
                _params(amountIn, amountOutMin, TOKEN_OUT == address(0) ? THE_ROUTER : to)
            );
        Allowance.end(TOKEN_IN, ROUTER);
        uint256 kept = IERC20(TOKEN_IN).balanceOf(address(this)) + amountIn;
        if (kept > balanceBefore) revert NotSpent(kept - balanceBefore);
        if (TOKEN_OUT == address(0)) ISwapRouter02(ROUTER).unwrapWETH9(amountOutMin, to);
    }

    function _params(uint256 amountIn, uint256 amountOutMin, address recipient)
        private
        view
        returns (ISwapRouter02.ExactInputSingleParams memory)
    {
        return ISwapRouter02.ExactInputSingleParams({
            tokenIn: _wrapped(TOKEN_IN),
            tokenOut: _wrapped(TOKEN_OUT),
            fee: POOL_FEE,
            recipient: recipient,
            amountIn: amountIn,
            amountOutMinimum: amountOutMin,
            sqrtPriceLimitX96: 0
        });
    }

    function _wrapped(address token) private view returns (address) {
        return token == address(0) ? WETH : token;
    }
}
