// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ChargedRoute } from "../../src/routes/ChargedRoute.sol";
import { Commitment } from "../../src/types/Commitment.sol";
import { Plan } from "../../src/types/Plan.sol";
import { RouteFee } from "../../src/types/RouteFee.sol";

/// @title A fee that every charged route takes stays within the committed cap
contract FeeLaws is ChargedRoute {
    constructor() ChargedRoute(1, address(1), address(1)) { }

    function charge(Commitment calldata c, uint256 amount, RouteFee calldata fee, uint256 bridgeFee)
        external
        pure
    {
        uint256 charged = _charge(c, amount, fee, bridgeFee);
        uint256 cap = amount * c.maxFeeBps / 10_000;
        unchecked {
            uint256 total = charged + bridgeFee;
            assert(total >= charged);
            assert(total <= cap);
            assert(total < amount);
        }
    }

    function plan(Commitment calldata, address, address, uint256, bytes calldata)
        external
        view
        returns (Plan memory)
    { }

    function complete(Commitment calldata, address, address, uint256, uint256, bytes calldata)
        external { }
}
