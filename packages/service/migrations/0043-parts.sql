-- The last block whose deposits a planned part takes, on a chain whose sweeps do not name it; null for a whole balance.
alter table settlements add column planned_up_to bigint;
