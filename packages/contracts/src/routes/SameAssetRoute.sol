// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IRoute } from "../interfaces/IRoute.sol";
import { ISameAssetRoute } from "../interfaces/ISameAssetRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { EscrowRoute } from "./EscrowRoute.sol";

/// @title The route to the same asset on another chain
/// @notice Trust: none. The relayer chooses nothing, and there is no price.
contract SameAssetRoute is ISameAssetRoute, EscrowRoute {
    constructor(Pair memory p) EscrowRoute(p) { }

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        _checkPair(c, token);
        if (data.length != 0) revert InvalidData(data.length);
        _lock(c, token, amount, minOut(amount, c.maxFeeBps));
    }

    /// @inheritdoc ISameAssetRoute
    function minOut(uint256 amount, uint16 maxFeeBps) public view returns (uint256) {
        if (maxFeeBps >= BPS) return 0;
        // One division at the end rounds once.
        return amount * (BPS - maxFeeBps) * 10 ** uint256(DEST_DECIMALS)
            / (BPS * 10 ** uint256(SOURCE_DECIMALS));
    }
}
