// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A price that an attestor signed for one wallet and one route
/// @notice The signature covers no exact amount and no sequence number, so that one unit sent by
/// anybody in between does not void it. `maxAmount` and 120 seconds bound its use.
interface IAttestedPrice {
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

    /// @notice The signature is malformed or not by a listed attestor.
    error NotAttestor(address signer);

    /// @notice The EIP-712 domain of a price: `Price(address factory,address wallet,address
    /// token,uint256 rate,uint256 maxAmount,uint256 deadline)`. Its name is "Sluice PricedRoute" for
    /// every route, its verifying contract the route.
    function domainSeparator() external view returns (bytes32);

    /// @notice The factory whose attestors may sign.
    function factory() external view returns (address);
}
