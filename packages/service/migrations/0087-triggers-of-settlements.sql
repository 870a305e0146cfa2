-- As for deliveries, in a transaction of its own: the settler locks rows of both tables.
drop trigger settlements_posted on settlements;
create trigger settlements_posted after update on settlements for each row
  when ((old.status = 'completed', old.swept_amount, old.swept_block, old.delivered_amount, old.swap_fee) is distinct from
        (new.status = 'completed', new.swept_amount, new.swept_block, new.delivered_amount, new.swap_fee))
  execute function follow_settlement();

drop trigger settlements_terminal on settlements;
create trigger settlements_terminal before update on settlements for each row
  when (old.status in ('completed', 'dead')) execute function refuse_terminal_change();

drop trigger settlements_dead_in_flight on settlements;
create trigger settlements_dead_in_flight before update on settlements for each row
  when (new.status = 'dead' and old.status <> 'dead') execute function refuse_dead_in_flight();
