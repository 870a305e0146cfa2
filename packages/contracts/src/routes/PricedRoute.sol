// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IEscrow } from "../interfaces/IEscrow.sol";
import { IPricedRoute } from "../interfaces/IPricedRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Plan } from "../types/Plan.sol";
import { AttestedPrice } from "./AttestedPrice.sol";
import { EscrowRoute } from "./EscrowRoute.sol";

/// @title The route to another asset on another chain
/// @notice Trust: the relayer chooses among prices that the attestors signed for this wallet within
/// the last two minutes, and bounds them by a price of its own. A relayer and the attestors together
/// can promise too little or too much; the delivery still goes to the committed wallet, and
/// inventory pays at most the daily cap.
contract PricedRoute is IPricedRoute, EscrowRoute, AttestedPrice {
    constructor(Pair memory p) EscrowRoute(p) AttestedPrice(IEscrow(p.escrow).factory()) { }

    /// @inheritdoc IRoute
    function plan(
        Commitment calldata c,
        address wallet,
        address token,
        uint256 amount,
        bytes calldata data
    ) external view returns (Plan memory) {
        _checkPair(c, token);
        uint256 rate = _readRate(wallet, token, amount, data);
        return _lock(c, amount, minOut(amount, rate, c.maxSlippageBps, c.maxFeeBps));
    }

    /// @inheritdoc IPricedRoute
    function minOut(uint256 amount, uint256 rate, uint16 maxSlippageBps, uint16 maxFeeBps)
        public
        view
        returns (uint256)
    {
        uint256 given = uint256(maxSlippageBps) + maxFeeBps;
        if (given >= BPS) return 0;
        uint256 fair = _fair(amount, rate, SOURCE_DECIMALS, DEST_DECIMALS);
        return Math.mulDiv(fair, BPS - given, BPS, Math.Rounding.Ceil);
    }

    /// @dev Returns the attested rate, which is within the relayer's bounds.
    function _readRate(address wallet, address token, uint256 amount, bytes calldata data)
        private
        view
        returns (uint256)
    {
        (Price memory price, bytes memory signatures, RateBounds memory bounds) =
            abi.decode(data, (Price, bytes, RateBounds));
        if (price.rate < bounds.min || price.rate > bounds.max) {
            revert RateOutOfBounds(price.rate, bounds.min, bounds.max);
        }
        _checkPrice(wallet, token, amount, price, signatures);
        return price.rate;
    }
}
