// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpRoute } from "../interfaces/ICctpRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { RouteFee } from "../types/RouteFee.sol";
import { CctpBurn } from "./CctpBurn.sol";
import { ChargedRoute } from "./ChargedRoute.sol";

/// @title The route to USDC of another EVM chain
/// @notice Trust: Circle; and the relayer for the fee, the bridge's maximum fee and the finality, all
/// within the committed cap.
contract CctpRoute is ICctpRoute, ChargedRoute, CctpBurn {
    constructor(Config memory config_)
        ChargedRoute(config_.evmChainId, config_.feeRecipient)
        CctpBurn(
            config_.token,
            config_.messenger,
            config_.destChain,
            config_.destToken,
            config_.destDomain
        )
    { }

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        _check(c, token, USDC, DEST_CHAIN, DEST_TOKEN);
        if (data.length != 128) revert InvalidData(data.length);
        (RouteFee memory fee, uint256 maxFee, uint32 threshold) =
            abi.decode(data, (RouteFee, uint256, uint32));
        uint256 charged = _charge(c, token, amount, fee, maxFee);
        _burn(c, amount - charged, charged, maxFee, threshold);
    }

    /// @inheritdoc ICctpRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID,
            token: USDC,
            messenger: MESSENGER,
            destChain: DEST_CHAIN,
            destToken: DEST_TOKEN,
            destDomain: DEST_DOMAIN,
            feeRecipient: FEE_RECIPIENT
        });
    }
}
