-- The list of deposits by the finality of their blocks: orphaned ones are few among many.
create index concurrently deposits_list_orphaned on deposits (integrator_id, detected_at desc, id desc)
  where orphaned_at is not null;
create index concurrently address_refunds_list on address_refunds (integrator_id, at desc, id desc);
