// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ITreasury } from "../src/interfaces/ITreasury.sol";
import { Treasury } from "../src/Treasury.sol";
import { Commitment } from "../src/types/Commitment.sol";
import { Fixture } from "./support/Fixture.sol";
import { GameTest } from "./support/GameTest.sol";

/// @notice A thief with the mover's key, beside honest work.
contract StolenMoverGame is Fixture {
    uint112 internal constant CAP = 100e6;
    address internal constant THIEF = address(0xbad);

    Treasury public treasury;
    address public pocket;
    uint256 internal constant FLOOR = 1e6;

    function setUp() public override {
        if (address(treasury) != address(0)) return;
        super.setUp();
        treasury = new Treasury(OWNER, GUARDIAN, DELAY);
        Commitment memory c = remoteCommitment();
        c.destWallet = word(address(delivery));
        c.refundAuthority = word(OWNER);
        pocket = factory.predict(c);
        ITreasury.Direction[] memory directions = new ITreasury.Direction[](1);
        directions[0] = ITreasury.Direction(address(usdc), pocket, CAP);
        vm.startPrank(OWNER);
        treasury.seal(listOf(THIEF), directions);
        treasury.setFloor(address(usdc), FLOOR);
        vm.stopPrank();
        usdc.mint(address(treasury), 1e30);
        vm.deal(address(treasury), 1e30);
    }

    function move(uint256 token, uint256 to, uint256 amount) external {
        address[4] memory tokens = [address(usdc), NATIVE, address(usdcThere), address(treasury)];
        address[5] memory accounts = [pocket, THIEF, address(delivery), RELAYER, address(factory)];
        vm.prank(THIEF);
        try treasury.move(tokens[token % 4], accounts[to % 5], amount % (2 * uint256(CAP))) { }
            catch { }
    }

    function call(uint256 what, address to, uint112 amount) external {
        bytes[8] memory calls = [
            abi.encodeCall(treasury.scheduleDirection, (address(usdc), to, amount)),
            abi.encodeCall(treasury.executeDirection, (address(usdc), to)),
            abi.encodeCall(treasury.lowerDirection, (address(usdc), pocket, amount)),
            abi.encodeCall(treasury.setFloor, (address(usdc), amount)),
            abi.encodeCall(treasury.scheduleWithdrawal, (address(usdc), amount)),
            abi.encodeCall(treasury.executeWithdrawal, (address(usdc))),
            abi.encodeCall(treasury.transferOwnership, (THIEF)),
            abi.encodeCall(treasury.acceptOwnership, ())
        ];
        vm.prank(THIEF);
        (bool ok,) = address(treasury).call(calls[what % 8]);
        ok;
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + time % 30 hours);
    }

    /// @dev Money of the treasury that is neither there nor in the operator's deposit address.
    function gone() external view returns (uint256) {
        uint256 there = usdc.balanceOf(address(treasury)) + usdc.balanceOf(pocket);
        return 1e30 - there + 1e30 - address(treasury).balance;
    }

    function mostMoved() external view returns (uint256) {
        return ((block.timestamp - START) / 1 days + 1) * CAP;
    }

    function moved() external view returns (uint256) {
        return usdc.balanceOf(pocket);
    }
}

contract StolenMoverTest is GameTest {
    StolenMoverGame private _game;

    function setUp() public override {
        _game = new StolenMoverGame();
        _game.setUp();
    }

    function invariant_T310_AMoverOnlyCarriesMoneyBetweenTheOperatorsAccounts() public view {
        assertEq(_game.gone(), 0, "all is there");
    }

    function invariant_T310_AMoverMovesNoMoreThanTheCapPerDay() public view {
        assertTrue(_game.moved() <= _game.mostMoved(), "at most the cap per day");
    }

    function played() internal view override returns (address) {
        return address(_game);
    }
}
