package tpcc

import (
	"fmt"

	"rumbench/model"
)

// The tables, with the standard's names. orders replaces ORDER, which is a reserved word.
const (
	warehouse = "warehouse"
	district  = "district"
	customer  = "customer"
	history   = "history"
	orders    = "orders"
	newOrders = "new_order"
	orderLine = "order_line"
	item      = "item"
	stock     = "stock"

	constantsTable = "constants" // the tenth: the constants of the load

	nameIndex  = "c_name"
	orderIndex = "o_customer"
)

// bytesOf is the mean number of user bytes of a row.
var bytesOf = map[string]int64{
	warehouse: 80, district: 88, customer: 556, history: 62, orders: 35, newOrders: 12, orderLine: 66, item: 73,
	stock: 306, constantsTable: 44,
}

// The user bytes of index entries.
const (
	nameEntry  = 4 + 4 + 12 + 12 + 4
	orderEntry = 4 * 4
)

// distWidth is the length of the text that a stock has for a district.
const distWidth = 24

// number is an integer of four bytes; money is an amount in cents, or a sum of amounts.
func number(name string) model.Column {
	return model.Column{Name: name, Type: model.Int, Width: 4, NotNull: true}
}

func money(name string) model.Column { return model.Column{Name: name, Type: model.Int, NotNull: true} }

func text(name string, width int) model.Column {
	return model.Column{Name: name, Type: model.String, Width: width, NotNull: true}
}

func date(name string) model.Column { return model.Column{Name: name, Type: model.Time, NotNull: true} }

func orNull(c model.Column) model.Column {
	c.NotNull = false
	return c
}

// address returns the columns of an address.
func address(name string) []model.Column {
	return []model.Column{
		text(name+"_street_1", 20), text(name+"_street_2", 20), text(name+"_city", 20), text(name+"_state", 2),
		text(name+"_zip", 9),
	}
}

func columns(lists ...[]model.Column) (out []model.Column) {
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// distColumn returns the name of a stock's text column for a district.
func distColumn(d int64) string { return fmt.Sprintf("s_dist_%02d", d) }

// newTables returns the standard's nine tables and that of the constants. Amounts are in
// cents, taxes and discounts in ten-thousandths: floats would break the conditions.
func newTables() []model.Table {
	return []model.Table{
		{
			Name: warehouse, Key: []string{"w_id"},
			Columns: columns([]model.Column{number("w_id"), text("w_name", 10)}, address("w"),
				[]model.Column{number("w_tax"), money("w_ytd")}),
		},
		{
			Name: district, Key: []string{"d_w_id", "d_id"},
			Columns: columns([]model.Column{number("d_w_id"), number("d_id"), text("d_name", 10)}, address("d"),
				[]model.Column{number("d_tax"), money("d_ytd"), number("d_next_o_id")}),
		},
		{
			Name: customer, Key: []string{"c_w_id", "c_d_id", "c_id"},
			Columns: columns([]model.Column{number("c_w_id"), number("c_d_id"), number("c_id"), text("c_first", 16),
				text("c_middle", 2), text("c_last", 16)},
				address("c"),
				[]model.Column{
					text("c_phone", 16), date("c_since"), text("c_credit", 2), money("c_credit_lim"), number("c_discount"),
					money("c_balance"),
					money("c_ytd_payment"), number("c_payment_cnt"), number("c_delivery_cnt"), text("c_data", dataWidth),
				}),
			Indexes: []model.Index{{Name: nameIndex, Columns: []string{"c_w_id", "c_d_id", "c_last", "c_first"}}},
		},
		{
			Name: history, Key: []string{"h_id"}, // the standard has no key
			Columns: []model.Column{
				{Name: "h_id", Type: model.Int, NotNull: true, Auto: true}, number("h_c_w_id"), number("h_c_d_id"),
				number("h_c_id"),
				number("h_w_id"), number("h_d_id"), date("h_date"), money("h_amount"), text("h_data", 24),
			},
		},
		{
			Name: orders, Key: []string{"o_w_id", "o_d_id", "o_id"},
			Columns: []model.Column{
				number("o_w_id"), number("o_d_id"), number("o_id"), number("o_c_id"), date("o_entry_d"),
				orNull(number("o_carrier_id")),
				number("o_ol_cnt"), number("o_all_local"),
			},
			Indexes: []model.Index{{Name: orderIndex, Columns: []string{"o_w_id", "o_d_id", "o_c_id", "o_id"}}},
		},
		{
			Name: newOrders, Key: []string{"no_w_id", "no_d_id", "no_o_id"},
			Columns: []model.Column{number("no_w_id"), number("no_d_id"), number("no_o_id")},
		},
		{
			Name: orderLine, Key: []string{"ol_w_id", "ol_d_id", "ol_o_id", "ol_number"},
			Columns: []model.Column{
				number("ol_w_id"), number("ol_d_id"), number("ol_o_id"), number("ol_number"), number("ol_i_id"),
				number("ol_supply_w_id"),
				orNull(date("ol_delivery_d")), number("ol_quantity"), money("ol_amount"), text("ol_dist_info", distWidth),
			},
		},
		{
			Name: item, Key: []string{"i_id"},
			Columns: []model.Column{number("i_id"), number("i_im_id"), text("i_name", 24), money("i_price"), text("i_data", 50)},
		},
		{
			Name: stock, Key: []string{"s_w_id", "s_i_id"},
			Columns: columns([]model.Column{number("s_w_id"), number("s_i_id"), number("s_quantity")}, dists(),
				[]model.Column{money("s_ytd"), number("s_order_cnt"), number("s_remote_cnt"), text("s_data", 50)}),
		},
		{
			Name: constantsTable, Key: []string{"id"},
			Columns: []model.Column{
				number("id"), money("seed"), number("warehouses"), number("customers"), number("new_orders"), number("items"),
				number("c_load"), number("c_run"), number("c_id"), number("c_item"),
			},
		},
	}
}

var tables = newTables()

func dists() (out []model.Column) {
	for d := range int64(districts) {
		out = append(out, text(distColumn(d+1), distWidth))
	}
	return out
}

// Schema returns the tables.
func (r *run) Schema() model.Schema { return model.Schema{Tables: newTables()} }

// tableOf returns a table by name.
func tableOf(name string) *model.Table {
	for i := range tables {
		if tables[i].Name == name {
			return &tables[i]
		}
	}
	return nil
}

// given returns the columns of a table to which inserts give values.
func given(table string) []string {
	names := tableOf(table).ColumnNames()
	if table == history {
		return names[1:]
	}
	return names
}
