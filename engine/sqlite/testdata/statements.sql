-- table sale
CREATE TABLE "sale" ("id" INTEGER NOT NULL, "at" INTEGER, "product" INTEGER NOT NULL, "price" REAL NOT NULL, "count" INTEGER, "note" TEXT, "code" TEXT NOT NULL, PRIMARY KEY ("id"))
CREATE INDEX "sale.product" ON "sale" ("product", "price")
CREATE INDEX "sale.at" ON "sale" ("at", "id", "price")
DROP INDEX "sale.product"
DROP TABLE "sale"

-- table link
CREATE TABLE "link" ("from" INTEGER NOT NULL, "to" TEXT NOT NULL, "data" BLOB, "version" INTEGER NOT NULL, PRIMARY KEY ("from", "to"))
CREATE UNIQUE INDEX "link.to" ON "link" ("to", "version")
DROP INDEX "link.to"
DROP TABLE "link"

-- insert, numbered
INSERT INTO "sale" ("product", "price") VALUES (?, ?), (?, ?)

-- insert, numbered, number wanted
INSERT INTO "sale" ("product", "price") VALUES (?, ?), (?, ?)

-- insert, number given
INSERT INTO "sale" ("id", "product", "price") VALUES (?, ?, ?)

-- insert, ignore
INSERT INTO "link" ("from", "to", "data", "version") VALUES (?, ?, ?, ?) ON CONFLICT ("from", "to") DO NOTHING

-- insert, replace all columns
INSERT INTO "link" ("from", "to", "data", "version") VALUES (?, ?, ?, ?), (?, ?, ?, ?) ON CONFLICT ("from", "to") DO UPDATE SET "data" = excluded."data", "version" = excluded."version"

-- insert, replace some columns
INSERT INTO "link" ("from", "to", "version") VALUES (?, ?, ?) ON CONFLICT ("from", "to") DO UPDATE SET "data" = NULL, "version" = excluded."version"

-- insert, add
INSERT INTO "link" ("from", "to", "version") VALUES (?, ?, ?) ON CONFLICT ("from", "to") DO UPDATE SET "version" = "link"."version" + excluded."version"

-- insert, add to nullable
INSERT INTO "sale" ("id", "product", "price", "count") VALUES (?, ?, ?, ?) ON CONFLICT ("id") DO UPDATE SET "count" = COALESCE("sale"."count" + excluded."count", "sale"."count", excluded."count"), "price" = "sale"."price" + excluded."price"

-- get
SELECT "id", "note" FROM "sale" WHERE "id" = ?

-- get, three keys
SELECT "id", "note" FROM "sale" WHERE "id" IN (?, ?, ?)

-- get, locked
SELECT "id", "note" FROM "sale" WHERE "id" = ?

-- get, composite key
SELECT "data" FROM "link" WHERE "from" = ? AND "to" = ?

-- get, two composite keys
SELECT "data" FROM "link" WHERE ("from", "to") IN (VALUES (?, ?), (?, ?))

-- get, no columns
SELECT 1 FROM "sale" WHERE "id" = ?

-- get, by index
SELECT "id", "product" FROM "sale" WHERE "product" = ?

-- get, by index, three keys
SELECT "id", "product" FROM "sale" WHERE "product" IN (?, ?, ?)

-- get, by index, two composite keys
SELECT "id" FROM "sale" WHERE ("product", "price") IN (VALUES (?, ?), (?, ?))

-- scan, by key
SELECT "id" FROM "sale" NOT INDEXED WHERE "id" >= ? ORDER BY "id" LIMIT 10

-- scan, greatest key
SELECT "id" FROM "sale" NOT INDEXED ORDER BY "id" DESC LIMIT 1

-- scan, by index
SELECT "product", "price", "id" FROM "sale" INDEXED BY "sale.product" WHERE "product" > ? AND "product" <= ? ORDER BY "product", "price"

-- scan, equal prefix, down
SELECT "product", "price" FROM "sale" INDEXED BY "sale.product" WHERE "product" = ? AND "price" < ? ORDER BY "price" DESC LIMIT 5

-- scan, all equal
SELECT "product", "price" FROM "sale" INDEXED BY "sale.product" WHERE "product" = ? AND "price" = ?

-- scan, nullable order
SELECT "at", "price" FROM "sale" INDEXED BY "sale.at" ORDER BY "at" LIMIT 10

-- scan, nullable order, down
SELECT "at", "price" FROM "sale" INDEXED BY "sale.at" ORDER BY "at" DESC LIMIT 10

-- scan, count
SELECT COUNT(*) FROM "sale" NOT INDEXED WHERE "id" >= ? AND "id" < ?

-- scan, count with limit
SELECT COUNT(*) FROM (SELECT 1 FROM "sale" INDEXED BY "sale.product" WHERE "product" = ? ORDER BY "price" LIMIT 1000) AS rows_read

-- scan, count distinct
SELECT COUNT("product") FROM (SELECT DISTINCT "product" FROM "sale" INDEXED BY "sale.product") AS rows_read

-- scan, sum
SELECT SUM("count") FROM "sale" NOT INDEXED WHERE "id" BETWEEN ? AND ?

-- scan, order by
SELECT "note" FROM "sale" NOT INDEXED WHERE "id" BETWEEN ? AND ? ORDER BY "note"

-- scan, distinct
SELECT DISTINCT "product", "note" FROM "sale" NOT INDEXED ORDER BY "note" DESC, "product" DESC LIMIT 3

-- scan, free
SELECT "product" FROM "sale" WHERE "id" BETWEEN ? AND ?

-- scan, free, order by
SELECT "product" FROM "sale" WHERE "id" BETWEEN ? AND ? ORDER BY "product"

-- scan, free, distinct, order by
SELECT DISTINCT "product", "price" FROM "sale" WHERE "id" BETWEEN ? AND ? ORDER BY "product"

-- scan, free, sum
SELECT SUM("product") FROM "sale" WHERE "id" BETWEEN ? AND ?

-- scan, free, count of three ranges
SELECT COUNT("product") FROM "sale" WHERE "product" BETWEEN ? AND ? OR "product" BETWEEN ? AND ? OR "product" BETWEEN ? AND ?

-- scan, free, two ranges of short ones
SELECT "id" FROM "sale" WHERE ("id" BETWEEN ? AND ? OR "id" BETWEEN ? AND ?) AND OCTET_LENGTH("note") < ?

-- scan, free, count of short ones
SELECT COUNT("id") FROM "sale" WHERE OCTET_LENGTH("note") < ?

-- scan, free, short ones with an equal prefix
SELECT "id" FROM "sale" WHERE "product" = ? AND "price" < ? AND OCTET_LENGTH("code") < ?

-- scan, limited, two conditions
SELECT "id" FROM "sale" NOT INDEXED WHERE "id" > ? AND "count" = ? AND "price" >= ? AND "note" <= ? ORDER BY "id" DESC LIMIT 3

-- update
UPDATE "sale" SET "note" = ?, "count" = COALESCE("count" + ?, "count", ?), "price" = "price" + ? WHERE "id" = ?
-- arguments [0 1 1 2 3]

-- update, composite key
UPDATE "link" SET "version" = "version" + ? WHERE "from" = ? AND "to" = ?

-- update, three keys
UPDATE "sale" SET "count" = COALESCE("count" + ?, "count", ?), "note" = ? WHERE "id" IN (?, ?, ?)
-- arguments [0 0 1 2 3 4]

-- update, two composite keys
UPDATE "link" SET "version" = "version" + ? WHERE ("from", "to") IN (VALUES (?, ?), (?, ?))

-- update, by index
UPDATE "sale" INDEXED BY "sale.product" SET "note" = ? WHERE "product" = ?

-- delete
DELETE FROM "sale" WHERE "id" = ?

-- delete, two composite keys
DELETE FROM "link" WHERE ("from", "to") IN (VALUES (?, ?), (?, ?))

-- delete lowest
DELETE FROM "sale" WHERE "id" IN (SELECT "id" FROM "sale" WHERE "id" >= ? ORDER BY "id" LIMIT 50)

-- begin at level 0
BEGIN
BEGIN IMMEDIATE
-- begin at level 3
BEGIN
BEGIN IMMEDIATE
