import icon from '../../icon.svg';

/** The product's logo. */
export const Logo = ({ size }: { readonly size: number }) => <img src={icon} width={size} height={size} alt="" />;
