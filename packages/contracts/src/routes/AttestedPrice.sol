// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IAttestedPrice } from "../interfaces/IAttestedPrice.sol";
import { IDepositFactory } from "../interfaces/IDepositFactory.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { Eip712 } from "../types/Eip712.sol";

/// @title Base of the routes that need a price
/// @notice The relayer chooses among prices that an attestor signed for this wallet and this route
/// within the last two minutes.
abstract contract AttestedPrice is IAttestedPrice {
    bytes32 private constant NAME_HASH = keccak256("Sluice PricedRoute");
    bytes32 private constant PRICE_TYPEHASH = keccak256(
        "Price(address factory,address wallet,address token,uint256 rate,uint256 maxAmount,uint256 deadline)"
    );
    uint256 private constant RATE_SCALE = 1e18;
    uint256 private constant PRICE_LIFETIME = 120 seconds;

    /// @dev Its own address: while it runs in a wallet, `address(this)` is the wallet.
    address private immutable SELF = address(this);
    IDepositFactory private immutable FACTORY;

    constructor(address factory_) {
        if (factory_ == address(0)) revert IRoute.InvalidConfig();
        FACTORY = IDepositFactory(factory_);
    }

    /// @inheritdoc IAttestedPrice
    function factory() public view returns (address) {
        return address(FACTORY);
    }

    /// @inheritdoc IAttestedPrice
    function domainSeparator() public view returns (bytes32) {
        return Eip712.domainSeparator(NAME_HASH, SELF);
    }

    /// @dev Runs in the wallet, which the price was signed for.
    function _checkPrice(address token, uint256 amount, Price memory price, bytes memory signature)
        internal
        view
    {
        _checkDeadline(price.deadline, PRICE_LIFETIME);
        if (amount > price.maxAmount) revert AboveMaxAmount(amount, price.maxAmount);
        bytes32 structHash = keccak256(
            abi.encode(
                PRICE_TYPEHASH,
                address(FACTORY),
                address(this),
                token,
                price.rate,
                price.maxAmount,
                price.deadline
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domainSeparator(), structHash));
        (address signer,,) = ECDSA.tryRecover(digest, signature);
        if (!FACTORY.isAttestor(signer)) revert NotAttestor(signer);
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
