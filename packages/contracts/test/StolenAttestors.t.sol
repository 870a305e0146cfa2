// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { DepositFactory } from "../src/DepositFactory.sol";
import { Fixture } from "./support/Fixture.sol";
import { GameTest } from "./support/GameTest.sol";

/// @notice Four attestors, three of which must sign. A thief has the keys of two, knows every
/// signature of the honest ones, and was one itself before it was removed under a third key. It tries
/// any four signatures in any order, and claims of a time at which it was a third attestor.
contract StolenAttestorsGame is Fixture {
    uint256 private constant K = 3;
    uint256 private constant MESSAGES = 3;
    uint256 private constant REMOVED_KEY = 0xdead;

    uint256[4] private _keys = [uint256(0xb1), 0xb2, 0xc1, 0xc2];
    mapping(bytes32 digest => uint256) private _honest;

    uint256 public accepted;
    uint256 public forged;

    function setUp() public override {
        if (address(factory) != address(0)) return;
        vm.warp(START);
        factory = new DepositFactory(OWNER, GUARDIAN, DELAY);
        address[] memory members = new address[](5);
        for (uint256 i; i < 4; ++i) {
            members[i] = vm.addr(_keys[i]);
        }
        members[4] = vm.addr(REMOVED_KEY);
        vm.prank(OWNER);
        factory.seal(none(), none(), members, K, TREASURY);
        bytes32 role = factory.ATTESTOR();
        vm.warp(START + 1 days);
        vm.prank(GUARDIAN);
        factory.remove(role, members[4]);
        vm.warp(START + 2 days);
    }

    /// @dev The honest two sign what they know to be true.
    function sign(uint256 message, bool second) external {
        _honest[_digestOf(message)] |= second ? 2 : 1;
    }

    function attest(uint256 message, uint256 choice, uint256 count, uint256 time) external {
        bytes32 digest = _digestOf(message);
        bytes memory signatures;
        for (uint256 i; i < count % 5; ++i) {
            signatures = bytes.concat(signatures, _pick(digest, choice >> 8 * i & 0xff));
        }
        uint256 honest = (_honest[digest] & 1) + (_honest[digest] >> 1);
        _try(honest + 2 >= K, abi.encodeCall(factory.checkAttested, (digest, signatures)));
        // A time without the removed member, or with it: then three stolen keys suffice for a claim.
        bool wasThere = time % 2 == 0;
        _try(
            wasThere || honest + 2 >= K,
            abi.encodeCall(
                factory.checkAttestedAt, (digest, signatures, wasThere ? START : START + 1 days + 1)
            )
        );
    }

    /// @dev By a stolen key, or an honest signature where there is one; over this message or another.
    function _pick(bytes32 digest, uint256 choice) private view returns (bytes memory) {
        uint256 index = choice % 5;
        bytes32 over = choice >> 3 & 3 == 0 ? _digestOf(choice >> 5) : digest;
        if (index == 4) return _signWith(REMOVED_KEY, over);
        bool isStolen = index < 2;
        if (!isStolen && _honest[over] & (index - 1) == 0) return new bytes(65);
        return _signWith(_keys[index], over);
    }

    function _try(bool mayPass, bytes memory data) private {
        (bool passes,) = address(factory).staticcall(data);
        if (!passes) return;
        ++accepted;
        if (!mayPass) ++forged;
    }

    function _digestOf(uint256 message) private pure returns (bytes32) {
        return keccak256(abi.encode(message % MESSAGES));
    }

    function _signWith(uint256 key, bytes32 digest) private pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }
}

/// @notice Fewer stolen keys than the threshold attest nothing that no honest attestor signed.
contract StolenAttestorsTest is GameTest {
    StolenAttestorsGame private _game;

    function setUp() public override {
        _game = new StolenAttestorsGame();
        _game.setUp();
    }

    function played() internal view override returns (address) {
        return address(_game);
    }

    function invariant_AStolenMinorityAttestsNothing() public view {
        assertEq(_game.forged(), 0, "forged");
    }

    /// @dev A game in which nothing can be attested would prove nothing.
    function test_TheGameIsReal() public {
        uint256 passed;
        for (uint256 choice; choice < 125; ++choice) {
            uint256 picks = (choice % 5 | 8) | (choice / 5 % 5 | 8) << 8 | (choice / 25 | 8) << 16;
            _game.attest(0, picks, 3, 1);
        }
        assertEq(_game.accepted(), 0, "nobody honest signed");
        _game.sign(0, true);
        for (uint256 choice; choice < 125; ++choice) {
            uint256 picks = (choice % 5 | 8) | (choice / 5 % 5 | 8) << 8 | (choice / 25 | 8) << 16;
            _game.attest(0, picks, 3, 1);
        }
        passed = _game.accepted();
        assertTrue(passed > 0, "with an honest signature");
        _game.attest(1, 0, 3, 0);
        assertEq(_game.forged(), 0, "forged");
    }
}
