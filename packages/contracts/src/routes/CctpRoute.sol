// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ICctpRoute } from "../interfaces/ICctpRoute.sol";
import { IChargedRoute } from "../interfaces/IChargedRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { IUnattendedRoute } from "../interfaces/IUnattendedRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";
import { CctpBurn } from "./CctpBurn.sol";
import { ChargedRoute } from "./ChargedRoute.sol";

/// @title The route to USDC of another EVM chain
/// @notice Trust: Circle; and the relayer for the fee, the bridge's maximum fee and the finality, all
/// within the committed cap.
contract CctpRoute is ICctpRoute, ChargedRoute, CctpBurn {
    using RouteFeeLib for RouteFee;

    constructor(Config memory config_)
        ChargedRoute(config_.evmChainId, config_.factory, config_.feeRecipient)
        CctpBurn(
            config_.token,
            config_.messenger,
            config_.destChain,
            config_.destToken,
            config_.destDomain
        )
    { }

    /// @inheritdoc IRoute
    function plan(
        Commitment calldata c,
        address,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory) {
        _check(c, token, USDC, DEST_CHAIN, DEST_TOKEN);
        if (data.length != 128) revert InvalidData(data.length);
        (RouteFee memory fee, uint256 maxFee, uint32 threshold) = _decode(data);
        _checkBurn(c, threshold);
        uint256 charged = _charge(c, amount, fee, maxFee);
        return _payment(address(this), charged, amount - charged);
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
        (RouteFee memory fee, uint256 maxFee, uint32 threshold) = _decode(data);
        uint256 charged = fee.amountOf(amount);
        _burn(c, wallet, amount - charged, charged, maxFee, threshold);
    }

    /// @inheritdoc IUnattendedRoute
    function unattendedData(uint256 amount) external view returns (bytes memory) {
        return abi.encode(RouteFee({ bps: 0, flat: 0 }), _minFeeOf(amount), FINALIZED);
    }

    /// @inheritdoc ICctpRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID,
            factory: DEPOSIT_FACTORY,
            token: USDC,
            messenger: MESSENGER,
            destChain: DEST_CHAIN,
            destToken: DEST_TOKEN,
            destDomain: DEST_DOMAIN,
            feeRecipient: FEE_RECIPIENT
        });
    }

    function _decode(bytes calldata data)
        private
        pure
        returns (RouteFee memory fee, uint256 maxFee, uint32 threshold)
    {
        return abi.decode(data, (RouteFee, uint256, uint32));
    }
}
