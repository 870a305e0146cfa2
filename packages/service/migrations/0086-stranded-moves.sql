-- A move whose settlement has ended without a delivery is no longer under way: until somebody retries or refunds it, other moves fill
-- the inventory.
alter table moves drop constraint moves_state_check;
alter table moves add constraint moves_state_check check (state in
  ('asked', 'planned', 'moved', 'stranded', 'arrived', 'returned', 'failed', 'cancelled'));
