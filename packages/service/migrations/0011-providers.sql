-- Which of several routes of one kind a settlement took: the contract names it.
alter table settlements add column route_contract text;
