// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import { Math } from "@openzeppelin/contracts/utils/math/Math.sol";
import { IDepositFactory } from "../interfaces/IDepositFactory.sol";
import { IEscrow } from "../interfaces/IEscrow.sol";
import { IPricedRoute } from "../interfaces/IPricedRoute.sol";
import { IRoute } from "../interfaces/IRoute.sol";
import { Commitment } from "../types/Commitment.sol";
import { Eip712 } from "../types/Eip712.sol";
import { EscrowRoute } from "./EscrowRoute.sol";

/// @title The route to another asset on another chain
/// @notice Trust: the relayer chooses among prices that an attestor signed for this wallet within
/// the last two minutes. A relayer and an attestor together can promise too little; what is
/// delivered still goes to the committed wallet.
contract PricedRoute is IPricedRoute, EscrowRoute {
    bytes32 private constant NAME_HASH = keccak256("Sluice PricedRoute");
    bytes32 private constant PRICE_TYPEHASH = keccak256(
        "Price(address factory,address wallet,address token,uint256 rate,uint256 maxAmount,uint256 deadline)"
    );
    uint256 private constant RATE_SCALE = 1e18;
    uint256 private constant PRICE_LIFETIME = 120 seconds;

    /// @dev Its own address: where its code runs, `address(this)` is the wallet.
    address private immutable SELF = address(this);
    IDepositFactory private immutable FACTORY;

    constructor(Pair memory p) EscrowRoute(p) {
        FACTORY = IDepositFactory(IEscrow(p.escrow).factory());
    }

    /// @inheritdoc IRoute
    function deliver(Commitment calldata c, address token, uint256 amount, bytes calldata data)
        external
    {
        _checkPair(c, token);
        uint256 rate = _checkPrice(token, amount, data);
        _lock(c, token, amount, minOut(amount, rate, c.maxSlippageBps, c.maxFeeBps));
    }

    /// @inheritdoc IPricedRoute
    function factory() external view returns (address) {
        return address(FACTORY);
    }

    /// @inheritdoc IPricedRoute
    function domainSeparator() public view returns (bytes32) {
        return Eip712.domainSeparator(NAME_HASH, SELF);
    }

    /// @inheritdoc IPricedRoute
    function minOut(uint256 amount, uint256 rate, uint16 maxSlippageBps, uint16 maxFeeBps)
        public
        view
        returns (uint256)
    {
        uint256 given = uint256(maxSlippageBps) + maxFeeBps;
        if (given >= BPS) return 0;
        uint256 fair = Math.mulDiv(
            amount, rate * 10 ** uint256(DEST_DECIMALS), RATE_SCALE * 10 ** uint256(SOURCE_DECIMALS)
        );
        return Math.mulDiv(fair, BPS - given, BPS);
    }

    /// @dev Runs in the wallet, which is what the price was signed for.
    function _checkPrice(address token, uint256 amount, bytes calldata data)
        private
        view
        returns (uint256)
    {
        (Price memory price, bytes memory signature) = abi.decode(data, (Price, bytes));
        if (price.deadline < block.timestamp) revert Expired(price.deadline, block.timestamp);
        uint256 latest = block.timestamp + PRICE_LIFETIME;
        if (price.deadline > latest) revert DeadlineTooFar(price.deadline, latest);
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
        return price.rate;
    }
}
