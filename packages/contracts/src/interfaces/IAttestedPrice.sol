// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IEip712 } from "./IEip712.sol";

/// @title A price that the attestors signed for one wallet and one route
/// @notice The signatures cover no exact amount and no sequence number, so that one unit sent by
/// anybody in between does not void them. `maxAmount` and 120 seconds bound their use.
interface IAttestedPrice is IEip712 {
    /// @param rate The fair price: whole destination tokens per whole source token, times 1e18.
    /// @param maxAmount Maximum amount that it may be used for, in base units of the source token.
    /// @param deadline Last second at which it may be used.
    struct Price {
        uint256 rate;
        uint256 maxAmount;
        uint256 deadline;
    }

    error Expired(uint256 deadline, uint256 timestamp);

    /// @notice The deadline is too far ahead.
    error DeadlineTooFar(uint256 deadline, uint256 latest);
    error AboveMaxAmount(uint256 amount, uint256 maxAmount);

    /// @notice The factory whose attestors sign: `Price(address factory,address wallet,address
    /// token,uint256 rate,uint256 maxAmount,uint256 deadline)`, in a domain named "Sluice PricedRoute"
    /// for every route, with the route as its verifying contract.
    function factory() external view returns (address);
}
