// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IChargedRoute } from "../interfaces/IChargedRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { ITransferRoute } from "../interfaces/ITransferRoute.sol";
import { IUnattendedRoute } from "../interfaces/IUnattendedRoute.sol";
import { Address32 } from "../types/Address32.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";
import { ChargedRoute } from "./ChargedRoute.sol";

/// @title The transfer route
/// @notice Trust: the relayer chooses the fee, up to the committed cap and to a recipient that is
/// part of this code. Everything else follows from the commitment.
/// The increase of the recipient's balance counts: a token that keeps more of a transfer than the
/// committed fee cap leaves is not settled.
contract TransferRoute is ITransferRoute, ChargedRoute {
    using RouteFeeLib for RouteFee;

    uint16 private immutable BRIDGE_ID;
    address private immutable TOKEN;

    constructor(Config memory config_)
        ChargedRoute(config_.evmChainId, config_.factory, config_.feeRecipient)
    {
        BRIDGE_ID = config_.bridgeId;
        TOKEN = config_.token;
    }

    /// @inheritdoc IRoute
    function plan(
        Commitment calldata c,
        address,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory) {
        _check(c, token, TOKEN, BRIDGE_ID, Address32.toBytes32(TOKEN));
        if (data.length != 64) revert InvalidData(data.length);
        uint256 fee = _charge(c, amount, abi.decode(data, (RouteFee)), 0);
        uint256 least = amount - RouteFeeLib.cap(amount, c.maxFeeBps);
        return _payment(Address32.toNonZeroAddress(c.destWallet), fee, least);
    }

    /// @inheritdoc IChargedRoute
    function complete(
        Commitment calldata c,
        address wallet,
        address token,
        uint256 amount,
        uint256 received,
        bytes calldata data
    ) external onlyFactory {
        uint256 fee = abi.decode(data, (RouteFee)).amountOf(amount);
        emit Transferred(wallet, Address32.toAddress(c.destWallet), token, received, fee);
    }

    /// @inheritdoc ITransferRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID,
            bridgeId: BRIDGE_ID,
            factory: DEPOSIT_FACTORY,
            token: TOKEN,
            feeRecipient: FEE_RECIPIENT
        });
    }

    /// @inheritdoc IUnattendedRoute
    function unattendedData(uint256) external pure returns (bytes memory) {
        return abi.encode(RouteFee({ bps: 0, flat: 0 }));
    }
}
