// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IRoute } from "../interfaces/IRoute.sol";
import { ISwapRoute } from "../interfaces/ISwapRoute.sol";
import { Address32 } from "../types/Address32.sol";
import { Commitment } from "../types/Commitment.sol";
import { RouteFee } from "../types/RouteFee.sol";
import { ChargedRoute } from "./ChargedRoute.sol";
import { UniswapSwap } from "./UniswapSwap.sol";

/// @title The route to another token on the same chain
/// @notice Trust: that of `UniswapSwap`.
contract SwapRoute is ISwapRoute, UniswapSwap {
    uint16 private immutable BRIDGE_ID;

    constructor(Config memory config_)
        ChargedRoute(config_.evmChainId, config_.feeRecipient)
        UniswapSwap(
            config_.factory,
            Pool({
                router: config_.router,
                weth: config_.weth,
                tokenIn: config_.tokenIn,
                decimalsIn: config_.decimalsIn,
                tokenOut: config_.tokenOut,
                decimalsOut: config_.decimalsOut,
                fee: config_.poolFee
            })
        )
    {
        BRIDGE_ID = config_.bridgeId;
    }

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        _check(c, token, TOKEN_IN, BRIDGE_ID, Address32.toBytes32(TOKEN_OUT));
        Order memory order;
        (order.price, order.signature, order.fee, order.minOut, order.deadline) =
            abi.decode(data, (Price, bytes, RouteFee, uint256, uint256));
        _swap(c, amount, order, Address32.toNonZeroAddress(c.destWallet));
    }

    /// @inheritdoc ISwapRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID,
            bridgeId: BRIDGE_ID,
            factory: factory(),
            router: ROUTER,
            weth: WETH,
            tokenIn: TOKEN_IN,
            decimalsIn: DECIMALS_IN,
            tokenOut: TOKEN_OUT,
            decimalsOut: DECIMALS_OUT,
            poolFee: POOL_FEE,
            feeRecipient: FEE_RECIPIENT
        });
    }
}
