# Lets clients ask for a price that know nothing of Murphy's certificate: bash untold.sh URL CLIENT...
# Java finds the proxy by the variable that it is not given, and Node before 24 finds none: these get an address.
url=$1
shift
unset SSL_CERT_FILE CURL_CA_BUNDLE REQUESTS_CA_BUNDLE AWS_CA_BUNDLE GRPC_DEFAULT_SSL_ROOTS_FILE_PATH
unset NODE_EXTRA_CA_CERTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS
for client in "$@"; do
  case $client in
    curl) curl -fsS https://prices.test/tea ;;
    node) node client.mjs "$url" ;;
    java) java Client.java "$url" ;;
    reqwest) ;; # What is compiled looks like nothing in particular.
    *) python client.py "$client" ;;
  esac &
done
wait
