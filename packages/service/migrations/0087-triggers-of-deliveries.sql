-- Most updates of a delivery only schedule its next poll. Its trigger runs for the changes that it follows.
drop trigger deliveries_posted on deliveries;
create trigger deliveries_posted after update on deliveries for each row
  when (old.state is distinct from new.state or old.delivered_amount is distinct from new.delivered_amount)
  execute function follow_delivery();
