declare const brand: unique symbol;

/** A primitive type that the compiler keeps apart from others of the same primitive. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
