// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { IDepositFactory } from "../src/interfaces/IDepositFactory.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { RouteSetLib } from "../src/types/RouteSet.sol";
import { TestToken } from "../sandbox/TestToken.sol";
import { ThievingRoute } from "./doubles/Routes.sol";
import { Fixture } from "./support/Fixture.sol";
import { GameTest } from "./support/GameTest.sol";

/// @notice An owner who is a thief, beyond every delay, with relayers and routes of its own. One address has
/// fixed routes and receives `usdc`, one is governed and receives another token, so that the loot shows
/// whose it was.
contract OwnerLaterGame is Fixture {
    address public constant THIEF = address(0xbad);

    address public thieving;
    TestToken public governedToken;
    address public governedRoute;
    uint256 public deposited;
    uint256 public settledFixed;

    function setUp() public override {
        if (address(factory) != address(0)) return;
        super.setUp();
        governedToken = new TestToken("Other", "OTHER", 6);
        governedRoute = address(newTransferRoute(address(governedToken)));
        listRoute(governedRoute);
        ThievingRoute route = new ThievingRoute(THIEF);
        route.want(usdc);
        thieving = address(route);
    }

    function deposit(uint64 amount, bool fixed_) external {
        (fixed_ ? usdc : governedToken).mint(walletOf(fixed_), amount);
        if (fixed_) deposited += amount;
    }

    /// @dev By the service, or by a relayer of the thief's, through any route with any fee and proof.
    function settle(bool fixed_, bool byThief, uint256 which, uint16 feeBps, bool proves) external {
        IDepositFactory.Job memory job = IDepositFactory.Job({
            c: commitmentOf(fixed_),
            token: address(fixed_ ? usdc : governedToken),
            maxAmount: 0,
            route: [address(transferRoute), governedRoute, thieving][which % 3],
            data: feeOf(feeBps % 100),
            proof: noProof()
        });
        if (proves) {
            job.proof = new bytes32[](1);
            job.proof[0] = RouteSetLib.leafOf(block.chainid, address(transferRoute));
        }
        vm.prank(byThief ? THIEF : RELAYER);
        try factory.settle(job) returns (uint256 amount) {
            if (fixed_) settledFixed += amount;
        } catch { }
    }

    function refund(bool fixed_) external {
        address token = address(fixed_ ? usdc : governedToken);
        vm.prank(REFUNDEE);
        try factory.refund(commitmentOf(fixed_), token, ALL) { } catch { }
    }

    function govern(uint256 action, uint256 which) external {
        bytes32 role = which % 2 == 0 ? factory.ROUTE() : factory.ATTESTOR();
        address account = which % 2 == 0
            ? [thieving, address(transferRoute), governedRoute, thieving][which / 2 % 4]
            : THIEF;
        bytes[7] memory calls = [
            abi.encodeCall(factory.schedule, (role, account)),
            abi.encodeCall(factory.execute, (role, account)),
            abi.encodeCall(factory.cancel, (role, account)),
            abi.encodeCall(factory.remove, (role, account)),
            abi.encodeCall(factory.setRelayer, (THIEF, true)),
            abi.encodeCall(factory.schedule, (factory.TREASURY(), THIEF)),
            abi.encodeCall(factory.execute, (factory.TREASURY(), THIEF))
        ];
        vm.prank(OWNER);
        (bool done,) = address(factory).call(calls[action % 7]);
        done; // Refused where it is too early, or done already.
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + time % (2 * DELAY));
    }

    function commitmentOf(bool fixed_) public view returns (Commitment memory c) {
        c = localCommitment(address(fixed_ ? usdc : governedToken));
        if (fixed_) c.routes = RouteSetLib.leafOf(block.chainid, address(transferRoute));
    }

    function walletOf(bool fixed_) public view returns (address) {
        return factory.predict(commitmentOf(fixed_));
    }

    /// @dev Where the deposits of the address with fixed routes are.
    function placesOfFixed() external view returns (uint256 sum, uint256 fees) {
        fees = usdc.balanceOf(FEES);
        sum = usdc.balanceOf(walletOf(true)) + usdc.balanceOf(RECIPIENT) + usdc.balanceOf(REFUNDEE)
            + fees;
    }

    function loot(bool fixed_) external view returns (uint256) {
        return (fixed_ ? usdc : governedToken).balanceOf(THIEF);
    }
}

/// @notice The law of addresses with fixed routes: the owner takes nothing of them, ever, where their routes
/// need no trust in relayer and attestors.
contract OwnerLaterTest is GameTest {
    uint256 private constant SCHEDULE = 0;
    uint256 private constant EXECUTE = 1;
    uint256 private constant RELAY = 4;
    uint256 private constant THIEVING = 0;
    uint256 private constant THIEVING_ROUTE = 2;

    OwnerLaterGame private _game;

    function setUp() public override {
        _game = new OwnerLaterGame();
        _game.setUp();
    }

    function played() internal view override returns (address) {
        return address(_game);
    }

    function invariant_TheOwnerTakesNothingOfFixedRoutes() public view {
        assertEq(_game.loot(true), 0, "loot");
        (uint256 sum, uint256 fees) = _game.placesOfFixed();
        assertEq(sum, _game.deposited(), "every unit is where the commitment says");
        assertTrue(fees * 10_000 <= _game.settledFixed() * 50, "fees within the cap");
    }

    /// @dev And what the documents say of a governed address.
    function test_TheGameIsReal() public {
        _game.deposit(1e6, true);
        _game.deposit(1e6, false);
        _game.govern(SCHEDULE, THIEVING);
        _game.govern(RELAY, 0);
        _game.settle(false, true, THIEVING_ROUTE, 0, false);
        assertEq(_game.loot(false), 0, "within the delay");
        _game.pass(8 days);
        _game.govern(EXECUTE, THIEVING);
        _game.settle(true, true, THIEVING_ROUTE, 0, false);
        _game.settle(true, true, THIEVING_ROUTE, 0, true);
        _game.settle(false, true, THIEVING_ROUTE, 0, false);
        assertEq(_game.loot(false), 1e6, "a governed address, after the delay");
        invariant_TheOwnerTakesNothingOfFixedRoutes();
        _game.settle(true, true, 0, 50, false);
        assertEq(_game.settledFixed(), 1e6, "its own route, by anybody's relayer");
        invariant_TheOwnerTakesNothingOfFixedRoutes();
    }
}
