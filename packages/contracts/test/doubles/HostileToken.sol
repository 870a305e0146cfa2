// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @title A token with configurable misbehaviour
/// @notice One double for every kind of hostile token, and for tokens that change between one
/// transaction and the next: anybody can set its conduct. It has no errors of its own: a hostile token
/// gives no reason.
contract HostileToken {
    /// @dev The return value where ERC-20 has `bool`.
    enum Answer {
        True,
        Nothing,
        False
    }

    struct Conduct {
        /// Share of every transfer that is burned.
        uint16 feeBps;
        /// Factor on minted balances, times 1e18.
        uint256 index;
        Answer answer;
        /// Transfers move nothing and report success.
        bool pretends;
        /// Every transfer leaves one unit behind.
        bool keepsOne;
        bool paused;
        /// `approve(0)` and transfers of zero revert.
        bool refusesZero;
        /// Approving over an allowance that is not used up reverts.
        bool refusesRace;
        /// Allowances are never used up.
        bool stickyAllowance;
        /// Amounts above 96 bits revert.
        bool capped;
        /// Transfers to the zero address, or of the sender to itself, revert.
        bool picky;
        /// Gas that every transfer wastes.
        uint64 waste;
        /// `balanceOf` never ends.
        bool endless;
        /// Bytes with which transfers revert, and `balanceOf` answers.
        uint32 bomb;
    }

    /// @dev A false answer of `balanceOf`.
    struct Lie {
        bool told;
        uint256 balance;
        /// The account that gets the true answer.
        address confidant;
    }

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    string public name;
    string public symbol;
    uint8 public decimals;
    uint256 public totalSupply;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    mapping(address who => bool) public blocked;
    /// @dev The result of the last hook.
    bool public hookSucceeded;
    bytes public hookAnswer;

    mapping(address owner => uint256) private _shares;
    Conduct private _conduct;
    Lie private _lie;
    /// @dev The token whose balances these are; the token's own address for the native coin.
    address private _twin;
    address private _hookTarget;
    bytes private _hookPayload;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) {
        initialize(name_, symbol_, decimals_);
    }

    /// @dev Separate, for a proxy in front of it.
    function initialize(string memory name_, string memory symbol_, uint8 decimals_) public {
        (name, symbol, decimals) = (name_, symbol_, decimals_);
        _conduct.index = 1 ether;
    }

    function behave(Conduct calldata conduct_) external {
        _conduct = conduct_;
        if (conduct_.index == 0) _conduct.index = 1 ether;
    }

    function lie(Lie calldata lie_) external {
        _lie = lie_;
    }

    function mirror(address twin) external {
        _twin = twin;
    }

    function blockAccount(address who, bool on) external {
        blocked[who] = on;
    }

    /// @dev Makes a call in the middle of every transfer and stores the result.
    function hook(address target, bytes calldata payload) external {
        (_hookTarget, _hookPayload) = (target, payload);
    }

    function mint(address to, uint256 amount) external {
        totalSupply += amount;
        _shares[to] += _toShares(amount);
        emit Transfer(address(0), to, amount);
    }

    /// @dev Removes a balance without an event.
    function seize(address from, uint256 amount) external {
        _shares[from] -= _toShares(amount);
    }

    /// @dev Emits `times` events of `amount`, and moves nothing.
    function pretend(address from, address to, uint256 amount, uint256 times) external {
        for (uint256 i; i < times; ++i) {
            emit Transfer(from, to, amount);
        }
    }

    /// @dev Sends `amount` from the caller, `times` over.
    function flood(address to, uint256 amount, uint256 times) external {
        for (uint256 i; i < times; ++i) {
            _move(msg.sender, to, amount);
        }
    }

    /// @dev Pays, then reverts.
    function payAndRevert(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
        revert();
    }

    function approve(address spender, uint256 amount) external {
        Conduct storage c = _conduct;
        if (c.refusesZero && amount == 0) revert();
        if (c.capped && amount > type(uint96).max) revert();
        if (c.refusesRace && amount != 0 && allowance[msg.sender][spender] != 0) revert();
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        _answer();
    }

    function transfer(address to, uint256 amount) external {
        _transfer(msg.sender, to, amount);
        _answer();
    }

    function transferFrom(address from, address to, uint256 amount) external {
        uint256 allowed = allowance[from][msg.sender];
        if (allowed < amount) revert();
        if (!_conduct.stickyAllowance) allowance[from][msg.sender] = allowed - amount;
        _transfer(from, to, amount);
        _answer();
    }

    function balanceOf(address owner) external view returns (uint256) {
        uint256 size = _conduct.bomb;
        if (size != 0) {
            assembly ("memory-safe") { return(0, size) }
        }
        while (_conduct.endless) { }
        if (_lie.told && msg.sender != _lie.confidant) return _lie.balance;
        if (_twin == address(this)) return owner.balance;
        if (_twin != address(0)) return HostileToken(_twin).balanceOf(owner);
        return _shares[owner] * _conduct.index / 1 ether;
    }

    function _transfer(address from, address to, uint256 amount) private {
        Conduct storage c = _conduct;
        uint256 size = c.bomb;
        if (size != 0) {
            assembly ("memory-safe") { revert(0, size) }
        }
        if (c.paused || blocked[from] || blocked[to]) revert();
        if (c.refusesZero && amount == 0) revert();
        if (c.capped && amount > type(uint96).max) revert();
        if (c.picky && (to == address(0) || to == from)) revert();
        uint256 start = gasleft();
        while (start - gasleft() < c.waste) { }
        if (c.pretends) {
            emit Transfer(from, to, amount);
            return;
        }
        _move(from, to, c.keepsOne && amount != 0 ? amount - 1 : amount);
        if (_hookTarget != address(0)) {
            (hookSucceeded, hookAnswer) = _hookTarget.call(_hookPayload);
        }
    }

    /// @dev The event states the whole amount, as some fee tokens do.
    function _move(address from, address to, uint256 amount) private {
        uint256 fee = amount * _conduct.feeBps / 10_000;
        _shares[from] -= _toShares(amount);
        _shares[to] += _toShares(amount - fee);
        totalSupply -= fee;
        emit Transfer(from, to, amount);
    }

    function _toShares(uint256 amount) private view returns (uint256) {
        uint256 index = _conduct.index;
        // Rounded up, so that the whole balance can be moved.
        return (amount * 1 ether + index - 1) / index;
    }

    function _answer() private view {
        Answer answer = _conduct.answer;
        assembly ("memory-safe") {
            if eq(answer, 1) { return(0, 0) }
            mstore(0, iszero(answer))
            return(0, 0x20)
        }
    }
}
