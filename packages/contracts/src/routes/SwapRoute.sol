// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "../interfaces/IChargedRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { ISwapRoute } from "../interfaces/ISwapRoute.sol";
import { Address32 } from "../types/Address32.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { RouteFee } from "../types/RouteFee.sol";
import { ChargedRoute } from "./ChargedRoute.sol";
import { UniswapSwap } from "./UniswapSwap.sol";

/// @title The route to another token on the same chain
/// @notice Trust: that of `UniswapSwap`.
contract SwapRoute is ISwapRoute, UniswapSwap {
    uint16 private immutable BRIDGE_ID;

    constructor(Config memory config_)
        ChargedRoute(config_.evmChainId, config_.factory, config_.feeRecipient)
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
            }),
            config_.limits
        )
    {
        BRIDGE_ID = config_.bridgeId;
    }

    /// @inheritdoc IRoute
    function plan(
        Commitment calldata c,
        address wallet,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory) {
        _check(c, token, TOKEN_IN, BRIDGE_ID, Address32.toBytes32(TOKEN_OUT));
        address to = Address32.toNonZeroAddress(c.destWallet);
        return _planSwap(c, wallet, amount, _decode(data), to);
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
        _swap(c, wallet, amount, _decode(data), Address32.toAddress(c.destWallet));
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
            feeRecipient: FEE_RECIPIENT,
            limits: _limits()
        });
    }

    function _decode(bytes calldata data) private pure returns (Order memory order) {
        (order.price, order.signatures, order.fee, order.minOut, order.deadline) =
            abi.decode(data, (Price, bytes, RouteFee, uint256, uint256));
    }
}
