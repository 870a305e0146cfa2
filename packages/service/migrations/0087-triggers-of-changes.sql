-- Most updates of these rows only schedule their next poll. Triggers run for the changes that they follow.
drop trigger deliveries_posted on deliveries;
create trigger deliveries_posted after update on deliveries for each row
  when (old.state is distinct from new.state or old.delivered_amount is distinct from new.delivered_amount)
  execute function follow_delivery();

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
