// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IChargedRoute } from "../interfaces/IChargedRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { ISwapCctpRoute } from "../interfaces/ISwapCctpRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";
import { CctpBurn } from "./CctpBurn.sol";
import { ChargedRoute } from "./ChargedRoute.sol";
import { UniswapSwap } from "./UniswapSwap.sol";

/// @title The route from any token to USDC of another EVM chain
/// @notice Trust: that of `UniswapSwap`, then Circle.
contract SwapCctpRoute is ISwapCctpRoute, UniswapSwap, CctpBurn {
    constructor(Config memory config_)
        ChargedRoute(config_.evmChainId, config_.factory, config_.feeRecipient)
        UniswapSwap(
            config_.factory,
            Pool({
                router: config_.router,
                weth: config_.weth,
                tokenIn: config_.tokenIn,
                decimalsIn: config_.decimalsIn,
                tokenOut: config_.usdc,
                decimalsOut: config_.usdcDecimals,
                fee: config_.poolFee
            }),
            config_.limits
        )
        CctpBurn(
            config_.usdc,
            config_.messenger,
            config_.destChain,
            config_.destToken,
            config_.destDomain
        )
    { }

    /// @inheritdoc IRoute
    function plan(
        Commitment calldata c,
        address wallet,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory) {
        _check(c, token, TOKEN_IN, DEST_CHAIN, DEST_TOKEN);
        (Order memory order,, uint32 threshold) = _decode(data);
        _checkBurn(c, threshold);
        return _planSwap(c, wallet, amount, order, address(this));
    }

    /// @inheritdoc IChargedRoute
    function complete(
        Commitment calldata c,
        address wallet,
        address,
        uint256 amount,
        uint256,
        bytes calldata data
    ) external onlyFactory {
        (Order memory order, uint256 maxFee, uint32 threshold) = _decode(data);
        Fill memory fill = _swap(c, wallet, amount, order, address(this));
        uint256 left = RouteFeeLib.cap(amount, c.maxFeeBps) - fill.charged;
        uint256 cap = Math.mulDiv(left, fill.amountOut, fill.amountIn);
        if (maxFee > cap) revert FeeAboveCap(maxFee, cap);
        _burn(c, wallet, fill.amountOut, 0, maxFee, threshold);
    }

    /// @inheritdoc ISwapCctpRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID,
            factory: factory(),
            router: ROUTER,
            weth: WETH,
            tokenIn: TOKEN_IN,
            decimalsIn: DECIMALS_IN,
            usdc: USDC,
            usdcDecimals: DECIMALS_OUT,
            poolFee: POOL_FEE,
            messenger: MESSENGER,
            destChain: DEST_CHAIN,
            destToken: DEST_TOKEN,
            destDomain: DEST_DOMAIN,
            feeRecipient: FEE_RECIPIENT,
            limits: _limits()
        });
    }

    function _decode(bytes calldata data)
        private
        pure
        returns (Order memory order, uint256 maxFee, uint32 threshold)
    {
        (
            order.price,
            order.signatures,
            order.fee,
            order.minOut,
            order.deadline,
            maxFee,
            threshold
        ) = abi.decode(data, (Price, bytes, RouteFee, uint256, uint256, uint256, uint32));
    }
}
