// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IRoute } from "../interfaces/IRoute.sol";
import { ITransferRoute } from "../interfaces/ITransferRoute.sol";
import { Address32 } from "../types/Address32.sol";
import { Commitment } from "../types/Commitment.sol";
import { RouteFee, RouteFeeLib } from "../types/RouteFee.sol";
import { ChargedRoute } from "./ChargedRoute.sol";

/// @title The transfer route
/// @notice Trust: the relayer chooses the fee, up to the committed cap and to a recipient that is
/// part of this code. Everything else follows from the commitment.
/// The increase of the recipient's balance counts: a token that keeps more of a transfer than the
/// committed fee cap leaves is not settled.
contract TransferRoute is ITransferRoute, ChargedRoute {
    uint16 private immutable BRIDGE_ID;
    address private immutable TOKEN;

    constructor(Config memory config_) ChargedRoute(config_.evmChainId, config_.feeRecipient) {
        BRIDGE_ID = config_.bridgeId;
        TOKEN = config_.token;
    }

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        _check(c, token, TOKEN, BRIDGE_ID, Address32.toBytes32(TOKEN));
        if (data.length != 64) revert InvalidData(data.length);
        address to = Address32.toNonZeroAddress(c.destWallet);

        uint256 fee = _charge(c, token, amount, abi.decode(data, (RouteFee)), 0);
        uint256 received = _pay(token, to, amount - fee);
        uint256 amountMin = amount - RouteFeeLib.cap(amount, c.maxFeeBps);
        if (received < amountMin) revert ReceivedLess(received, amountMin);
        emit Transferred(address(this), to, token, received, fee);
    }

    /// @inheritdoc ITransferRoute
    function config() external view returns (Config memory) {
        return Config({
            evmChainId: EVM_CHAIN_ID, bridgeId: BRIDGE_ID, token: TOKEN, feeRecipient: FEE_RECIPIENT
        });
    }

    /// @dev Returns the amount that arrived. Native coin arrives or reverts; its recipient may pass
    /// it on.
    function _pay(address token, address to, uint256 amount) private returns (uint256) {
        uint256 balanceBefore = token == address(0) ? 0 : _balanceOf(token, to);
        _send(token, to, amount);
        return token == address(0) ? amount : _balanceOf(token, to) - balanceBefore;
    }
}
