//! Answers its arguments: the good neighbour of every hostile call.
hotcell_guests::guest!(|call| hotcell_guests::text(call.arguments));
