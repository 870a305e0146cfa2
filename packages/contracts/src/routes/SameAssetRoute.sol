// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { ISameAssetRoute } from "../interfaces/ISameAssetRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { EscrowRoute } from "./EscrowRoute.sol";

/// @title The route to the same asset on another chain
/// @notice Trust: none. The relayer chooses nothing, and there is no price.
contract SameAssetRoute is ISameAssetRoute, EscrowRoute {
    constructor(Pair memory p) EscrowRoute(p) { }

    /// @inheritdoc IRoute
    function plan(
        Commitment calldata c,
        address,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory) {
        _checkPair(c, token);
        if (data.length != 0) revert InvalidData(data.length);
        return _lock(c, amount, minOut(amount, c.maxFeeBps));
    }

    /// @inheritdoc ISameAssetRoute
    function minOut(uint256 amount, uint16 maxFeeBps) public view returns (uint256) {
        if (maxFeeBps >= BPS) return 0;
        uint256 scaled = amount * 10 ** uint256(DEST_DECIMALS);
        uint256 unit = 10 ** uint256(SOURCE_DECIMALS);
        // Rounded up, so that no fee exceeds the cap; but to no more than the units there can express.
        uint256 kept = Math.ceilDiv(scaled * (BPS - maxFeeBps), BPS * unit);
        return Math.min(kept, scaled / unit);
    }
}
