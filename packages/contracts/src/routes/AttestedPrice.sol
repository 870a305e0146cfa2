// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { Eip712 } from "../Eip712.sol";
import { IAttestedPrice } from "../interfaces/IAttestedPrice.sol";
import { IDepositFactory } from "../interfaces/IDepositFactory.sol";
import { IRoute } from "../interfaces/IRoute.sol";

/// @title Base of the routes that need a price
/// @notice The relayer chooses among prices that the attestors signed for this wallet and this route
/// within the last two minutes.
abstract contract AttestedPrice is IAttestedPrice, Eip712 {
    bytes32 private constant PRICE_TYPEHASH = keccak256(
        "Price(address factory,address wallet,address token,uint256 rate,uint256 maxAmount,uint256 deadline)"
    );
    uint256 private constant RATE_SCALE = 1e18;
    uint256 private constant PRICE_LIFETIME = 120 seconds;

    IDepositFactory private immutable FACTORY;

    constructor(address factory_) {
        if (factory_ == address(0)) revert IRoute.InvalidConfig();
        FACTORY = IDepositFactory(factory_);
    }

    /// @inheritdoc IAttestedPrice
    function factory() public view returns (address) {
        return address(FACTORY);
    }

    function _domainName() internal pure override returns (string memory) {
        return "Sluice PricedRoute";
    }

    /// @dev Requires a price that the attestors signed for this wallet.
    function _checkPrice(
        address wallet,
        address token,
        uint256 amount,
        Price memory price,
        bytes memory signatures
    ) internal view {
        _checkDeadline(price.deadline, PRICE_LIFETIME);
        if (amount > price.maxAmount) revert AboveMaxAmount(amount, price.maxAmount);
        bytes32 structHash = keccak256(
            abi.encode(
                PRICE_TYPEHASH,
                address(FACTORY),
                wallet,
                token,
                price.rate,
                price.maxAmount,
                price.deadline
            )
        );
        FACTORY.checkAttested(_digestOf(structHash), signatures);
    }

    function _checkDeadline(uint256 deadline, uint256 lifetime) internal view {
        if (deadline < block.timestamp) revert Expired(deadline, block.timestamp);
        uint256 latest = block.timestamp + lifetime;
        if (deadline > latest) revert DeadlineTooFar(deadline, latest);
    }

    /// @dev Returns the value of `amount` at `rate`, in base units of the other token, rounded down.
    function _fair(uint256 amount, uint256 rate, uint256 decimals, uint256 otherDecimals)
        internal
        pure
        returns (uint256)
    {
        return Math.mulDiv(amount, rate * 10 ** otherDecimals, RATE_SCALE * 10 ** decimals);
    }
}
